import type { ChangeFilter } from "@latchkey/core";
import fc from "fast-check";
import { idOf } from "./fixtures.js";
import * as any from "./model-arbitraries.js";
import { deleteChanges, listChanges } from "./model-log.js";
import { choose, kind, type World, workspaceAt } from "./model-world.js";

function filterOf({ model, everyKey }: World, by: ChangeFilter["kind"], pick: number) {
  const filters: { readonly [Kind in ChangeFilter["kind"]]: ChangeFilter } = {
    all: { kind: "all" },
    key: { kind: "key", keyId: choose(everyKey, pick)?.id ?? "key_unknown" },
    identity: {
      kind: "identity",
      identityId: choose(model.identities, pick)?.record.id ?? "id_unknown",
    },
    actor: { kind: "actor", actor: pick % 2 === 0 ? "root_1" : "root_2" },
  };
  return filters[by];
}

function idBefore({ model }: World, pick: number | null): string | null {
  return pick === null ? null : (choose(model.changes, pick)?.id ?? idOf("evt", 20));
}

/** Steps on the audit log. */
export const logKinds = [
  kind({
    title: "listChanges",
    input: fc.record({
      workspace: any.workspace,
      by: fc.constantFrom("all" as const, "key" as const, "identity" as const, "actor" as const),
      pick: any.pick,
      before: fc.option(any.pick),
      limit: fc.integer({ min: 1, max: 5 }),
    }),
    async run({ workspace, by, pick, before, limit }, world, store) {
      const page = { beforeId: idBefore(world, before), limit };
      const asked = [workspaceAt(workspace), filterOf(world, by, pick), page] as const;
      return {
        actual: await store.listChanges(...asked),
        expected: listChanges(world.model, ...asked),
      };
    },
  }),
  kind({
    title: "deleteChanges",
    input: fc.record({
      workspace: any.workspace,
      before: any.pick,
      limit: fc.integer({ min: 1, max: 5 }),
    }),
    async run({ workspace, before, limit }, world, store) {
      const workspaceId = workspaceAt(workspace);
      const beforeId = idBefore(world, before) as string;
      const expected = deleteChanges(world.model, workspaceId, beforeId);
      let deleted = 0;
      for (let calls = 0; calls <= expected; calls += 1) {
        const removal = await store.deleteChanges(workspaceId, beforeId, limit);
        deleted += removal.deleted;
        if (removal.deleted > limit) return { actual: removal, expected: { atMost: limit } };
        if (!removal.hasMore) return { actual: deleted, expected };
      }
      return { actual: "ever more", expected };
    },
  }),
];
