import fc from "fast-check";
import * as any from "./model-arbitraries.js";
import * as identities from "./model-identities.js";
import { pageOf } from "./model-page.js";
import { pageAfter, workspaceOf } from "./model-tenant-steps.js";
import { candidate, choose, kind, type World, workspaceAt } from "./model-world.js";

function chosenFrom({ model }: World, pick: number) {
  return choose(model.identities, pick)?.record;
}

/** Identities of a workspace, as they are read. */
export function identitiesOf({ model }: World, workspaceId: string) {
  return model.identities
    .filter(({ record }) => record.workspaceId === workspaceId)
    .map(identities.loadIdentity);
}

/** Steps on identities. */
export const identityKinds = [
  kind({
    title: "insertIdentity",
    input: fc.record({
      workspace: any.workspace,
      externalId: any.externalId,
      fields: any.identityFields,
      usage: any.usage,
    }),
    async run({ workspace, externalId, fields, usage }, world, store) {
      const { meta = {}, ratelimits = [], refill = null } = fields;
      const made = candidate(world, workspace, externalId);
      const identity = { ...made, meta, ratelimits, refill };
      const { id: identityId, workspaceId } = identity;
      const log = world.log(workspaceId, "identity.created", identityId, { identityId });
      return {
        actual: await store.insertIdentity(identity, usage, log),
        expected: identities.insertIdentity(world.model, identity, usage, log),
      };
    },
  }),
  kind({
    title: "updateIdentity",
    input: fc.record({
      workspace: any.rarely(any.workspace),
      pick: any.pick,
      offset: any.versionOffset,
      fields: fc.option(any.identityFields),
      usage: fc.option(any.usageChange),
    }),
    isClear: ({ fields, usage }) => fields !== null || usage !== null,
    async run({ workspace, pick, offset, fields, usage }, world, store) {
      const identity = chosenFrom(world, pick);
      const workspaceId = workspaceOf(identity, workspace);
      const { id = "id_unknown", version = 1 } = identity ?? {};
      const patch = {
        ...fields,
        usage: usage === null ? undefined : any.usageChangeAt(usage, world.now),
      };
      const log = world.log(workspaceId, "identity.updated", id, { identityId: id });
      const given = [workspaceId, id, version + offset, patch, log] as const;
      return {
        actual: await store.updateIdentity(...given),
        expected: identities.updateIdentity(world.model, ...given),
      };
    },
  }),
  kind({
    title: "deleteIdentity",
    input: fc.record({ workspace: any.rarely(any.workspace), pick: any.pick }),
    async run({ workspace, pick }, world, store) {
      const identity = chosenFrom(world, pick);
      const workspaceId = workspaceOf(identity, workspace);
      const id = identity?.id ?? "id_unknown";
      const log = world.log(workspaceId, "identity.deleted", id, { identityId: id });
      return {
        actual: await store.deleteIdentity(workspaceId, id, log),
        expected: identities.deleteIdentity(world.model, workspaceId, id, log),
      };
    },
  }),
  kind({
    title: "getIdentity and listIdentities",
    input: fc.record({
      workspace: any.workspace,
      externalId: any.externalId,
      pick: any.pick,
      page: any.page,
    }),
    async run({ workspace, externalId, pick, page }, world, store) {
      const workspaceId = workspaceAt(workspace);
      const identityId = chosenFrom(world, pick)?.id ?? "id_unknown";
      const all = identitiesOf(world, workspaceId);
      const asked = pageAfter(
        all.map(({ identity }) => identity),
        page,
      );
      return {
        actual: [
          await store.getIdentity(workspaceId, { externalId }),
          await store.getIdentity(workspaceId, { identityId }),
          await store.listIdentities(workspaceId, asked),
        ],
        expected: [
          identities.getIdentity(world.model, workspaceId, { externalId }),
          identities.getIdentity(world.model, workspaceId, { identityId }),
          pageOf(all, ({ identity }) => identity.id, asked),
        ],
      };
    },
  }),
];
