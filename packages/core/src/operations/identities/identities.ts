import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { ListScope } from "../../lib/cursor.js";
import { type IdentityRecord, identityType, newIdentity } from "../../records/identity.js";
import { fromWireLimits, toWireLimits } from "../../rules/rate-limit.js";
import { withCheckedIdentityMeta } from "../checked-meta.js";
import { notFound, transact } from "../context.js";
import { deletedFields, deleteRecord } from "../damaged.js";
import {
  evenWithIssues,
  externalId,
  id,
  metadata,
  pageFields,
  parseInput,
  refill,
  wholeNumber,
} from "../input.js";
import { identityRatelimits } from "../limit-input.js";
import { readPage, readRecord, usageOf } from "../read.js";
import type { Run, TableOf } from "../run.js";
import type { IdentityOperations } from "./operations.js";
import { EITHER_ID, hasEitherId, identityIds, identityWant } from "./reference.js";
import { updateIdentity, updateIdentityInput } from "./update-identity.js";
import { identityFields, toIdentityView } from "./view.js";

const withLeastUses = (least: number) =>
  z
    .strictObject({
      externalId,
      meta: metadata.optional(),
      ratelimits: identityRatelimits.optional(),
      remaining: wholeNumber(least).optional(),
      refill: refill.optional(),
    })
    .refine(({ refill, remaining }) => refill === undefined || remaining !== undefined, {
      ...evenWithIssues,
      path: ["refill"],
      error: "needs remaining",
    });

const createIdentityInput = withLeastUses(1);

const importedIdentityInput = withLeastUses(0);

const getIdentityInput = z.strictObject(identityIds).refine(hasEitherId, EITHER_ID);

const listIdentitiesInput = z.strictObject(pageFields);

const deleteIdentityInput = z.strictObject({ identityId: id });

const createIdentity: Run<IdentityOperations["createIdentity"]> = async (
  context,
  input,
  { forImport } = {},
) => {
  const schema = forImport ? importedIdentityInput : createIdentityInput;
  const parsed = await withCheckedIdentityMeta(context, parseInput(schema, input));
  const now = context.now();
  const identity: IdentityRecord = {
    ...newIdentity(context.newId("id"), context.workspaceId, parsed.externalId, now),
    ...(parsed.meta && { meta: parsed.meta }),
    ...(parsed.ratelimits && { ratelimits: fromWireLimits(parsed.ratelimits) }),
    ...(parsed.refill && { refill: parsed.refill }),
  };
  const remaining = parsed.remaining ?? null;
  await transact(context, async (transaction, audit) => {
    transaction.insert(identityType, identity, {
      counters: { usage: { remaining, refilledAt: now, lastRefillAt: null } },
      onTaken: () =>
        new LatchkeyError("CONFLICT", "an identity of this externalId exists", {
          reason: "taken",
          details: { field: "externalId" },
        }),
    });
    audit({
      type: "identity.created",
      at: now,
      resourceId: identity.id,
      after: identityFields(identity, remaining),
    });
  });
  return { identityId: identity.id };
};

const getIdentity: Run<IdentityOperations["getIdentity"]> = async (context, input) => {
  const want = identityWant(parseInput(getIdentityInput, input));
  const { value, loaded } = await readRecord(context, identityType, want, "identity");
  return toIdentityView(value, usageOf(loaded), context.now());
};

const listIdentities: Run<IdentityOperations["listIdentities"]> = async (context, input = {}) => {
  const page = parseInput(listIdentitiesInput, input);
  const scope: ListScope = { list: "identities", ownerId: context.workspaceId };
  const { items, total, info } = await readPage(context, identityType, "identity", scope, page);
  return {
    identities: items.map(({ value: { id, externalId, ratelimits } }) => ({
      id,
      externalId,
      ratelimits: toWireLimits(ratelimits),
    })),
    total,
    ...info,
  };
};

const deleteIdentity: Run<IdentityOperations["deleteIdentity"]> = async (context, input) => {
  const { identityId } = parseInput(deleteIdentityInput, input);
  await transact(context, async (transaction, audit) => {
    const identity = await deleteRecord(transaction, identityType, identityId);
    if (identity === undefined) throw notFound("identity");
    audit({
      type: "identity.deleted",
      resourceId: identityId,
      ...deletedFields(identity, identityFields),
    });
  });
  return { keys: "unlinked" };
};

/** How {@link IdentityOperations} run. */
export const IDENTITY_TABLE = {
  createIdentity: { run: createIdentity, input: createIdentityInput },
  getIdentity: { run: getIdentity, input: getIdentityInput },
  listIdentities: { run: listIdentities, input: listIdentitiesInput },
  updateIdentity: { run: updateIdentity, input: updateIdentityInput },
  deleteIdentity: { run: deleteIdentity, input: deleteIdentityInput },
} satisfies TableOf<IdentityOperations>;
