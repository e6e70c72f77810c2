import { z } from "zod";
import { type AuditFields, changesNothing } from "../../audit/entry.js";
import { taken } from "../../errors.js";
import { parseInput } from "../../lib/parse-input.js";
import { withoutNull } from "../../lib/without-null.js";
import {
  type IdentityRecord,
  identitySettings,
  identityType,
  newIdentity,
} from "../../records/identity.js";
import { contains } from "../../rules/keys/listing.js";
import { fromWireLimits, toWireLimits } from "../../rules/rate-limit.js";
import { countedFrom } from "../../rules/refill.js";
import { afterWriting } from "../../store/after-writing.js";
import { changeUsage, type Usage, type UsageChange, usageAt } from "../../store/counters.js";
import type { EpochMs } from "../../time.js";
import { configuredWindow } from "../../verification/limit-precedence.js";
import { withCheckedIdentityMeta } from "../checked-meta.js";
import {
  inSteps,
  notFound,
  type OperationContext,
  transact,
  transactUses,
  type Work,
} from "../context.js";
import { deletedFields, deleteRecord } from "../damaged.js";
import {
  evenWithIssues,
  externalId,
  id,
  metadata,
  nullable,
  oneOf,
  optional,
  pageFields,
  wholeNumber,
} from "../input.js";
import { identityRatelimits } from "../limit-input.js";
import { actOnEveryKey, actOnListedKeys, DELETION, DISABLING } from "../many-keys/many-keys.js";
import { operation, type Run, type TableOf } from "../operation.js";
import { findPage, readPage, readRecord, readRecordIn, usageOf } from "../read.js";
import { refill, refuseUsageChange, settingOfUses, toRefillView } from "../uses-and-refill.js";
import { eraseIdentity } from "./erase-identity.js";
import type { DeletedIdentity, IdentityOperations, IdentityView } from "./operations.js";
import { EITHER_ID, hasEitherId, identityIds, identityWant } from "./reference.js";

const settings = { meta: metadata, ratelimits: identityRatelimits };

const withLeastUses = (least: number) =>
  z
    .strictObject({
      externalId,
      ...optional({ ...settings, remaining: wholeNumber(least), refill }),
    })
    .refine(({ refill, remaining }) => refill === undefined || remaining !== undefined, {
      ...evenWithIssues,
      path: ["refill"],
      error: "needs remaining",
    });

const createIdentityInput = withLeastUses(1);

const importedIdentityInput = withLeastUses(0);

const identityReference = z.strictObject(identityIds).refine(hasEitherId, EITHER_ID);

const updateIdentityInput = z
  .strictObject({
    ...identityIds,
    ...optional({ ...settings, ...nullable({ remaining: wholeNumber(0), refill }) }),
  })
  .refine(hasEitherId, EITHER_ID);

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
    ...(parsed.refill && { refill: countedFrom(parsed.refill, now) }),
  };
  const remaining = parsed.remaining ?? null;
  return transact(context, async ({ transaction, audit }) => {
    transaction.insert(identityType, identity, {
      counters: { usage: { remaining, refilledAt: now, lastRefillAt: null } },
      onTaken: () => taken("externalId", "an identity with this externalId already exists"),
    });
    const after = identityFields(identity, remaining);
    audit({ type: "identity.created", at: now, resourceId: identity.id, after });
    return { identityId: identity.id };
  });
};

const deleteIdentityInput = z.strictObject({
  identityId: id,
  keys: oneOf(["unlink", "disable", "delete"]).default("unlink"),
});

export const IDENTITY_TABLE = {
  createIdentity: { run: createIdentity, input: createIdentityInput },

  getIdentity: operation(identityReference, async (context, input) => {
    const { value, loaded } = await readRecord(context, identityType, identityWant(input));
    return toIdentityView(value, usageOf(loaded), context.now());
  }),

  listIdentities: operation(
    z.strictObject({ ...pageFields, externalIdContains: externalId.optional() }),
    async (context, { externalIdContains: part, ...page }) => {
      const scope = { list: "identities", ownerId: context.workspaceId } as const;
      const { items, total, scanned, info } =
        part === undefined
          ? { ...(await readPage(context, identityType, scope, page)), scanned: undefined }
          : await findPage(context, identityType, scope, page, ({ externalId }) =>
              contains(externalId, part),
            );
      const identities = items.map(({ id, externalId, ratelimits }) => ({
        id,
        externalId,
        ratelimits: toWireLimits(ratelimits),
      }));
      return { identities, total, ...(scanned !== undefined && { scanned }), ...info };
    },
    { omitted: {} },
  ),

  updateIdentity: operation(updateIdentityInput, async (context, input) => {
    const wanted = await withCheckedIdentityMeta(context, input);
    const want = identityWant(wanted);
    const { answer, usages } = await transactUses(inSteps(context), async (work) => {
      const { transaction, audit } = work;
      const found = await readRecordIn(transaction, identityType, want);
      const now = context.now();
      const { value: identity } = found;
      const before = usageOf(found.loaded);
      const { refill, createdAt } = identity;
      const given = wanted.refill && countedFrom(wanted.refill, createdAt);
      const uses = settingOfUses(
        { usage: before, refill },
        { remaining: wanted.remaining, refill: given },
        now,
      );
      const ratelimits = wanted.ratelimits && fromWireLimits(wanted.ratelimits);
      const setsConfiguration = [wanted.meta, ratelimits, uses.refill].some(
        (field) => field !== undefined,
      );
      const after: IdentityRecord = {
        ...identity,
        meta: wanted.meta ?? identity.meta,
        ratelimits: ratelimits ?? identity.ratelimits,
        refill: uses.refill === undefined ? refill : uses.refill,
      };
      // The value that this change was based on: verifications change it without an entry.
      const remaining = wanted.remaining === undefined ? undefined : uses.remainingBefore;
      const change = {
        type: "identity.updated",
        at: now,
        resourceId: identity.id,
        before: identityFields(identity, remaining),
        after: identityFields(after, wanted.remaining),
      } as const;
      if (changesNothing(change) && !uses.isMoreThanSet) return { identity, before, now };
      if (setsConfiguration) transaction.update(identityType, identity, after);
      transaction.changeCounters(
        {
          kind: "identity",
          id: identity.id,
          usage: uses.usage,
          keepWindows: ratelimits?.map(configuredWindow),
        },
        (reason) => refuseUsageChange(reason, "remaining"),
      );
      audit(change);
      return { identity: after, before: usageAfter(before, uses.usage), now };
    });
    return toIdentityView(answer.identity, usages[0] ?? answer.before, answer.now);
  }),

  deleteIdentity: operation(deleteIdentityInput, async (context, { identityId, keys }) => {
    if (keys !== "unlink") return deleteWithKeys(context, identityId, keys);
    return transact(context, async (work) => {
      if (!(await deleteRecordOf(work, identityId))) throw notFound("identity");
      return { keys: "unlinked" } as const;
    });
  }),

  eraseIdentity: operation(identityReference, eraseIdentity),
} satisfies TableOf<IdentityOperations>;

/**
 * Deletes an identity, and deletes or disables its keys. The keys go first, so that the identity's limits hold for the keys that are left.
 * Once the identity is gone, a second pass finds keys that were created meanwhile; from then on only a rotation can give it another one.
 */
async function deleteWithKeys(
  operationContext: OperationContext,
  identityId: string,
  keys: "disable" | "delete",
): Promise<DeletedIdentity> {
  const context = inSteps(operationContext);
  const change = keys === "delete" ? DELETION : DISABLING;
  const { changed, unchanged } = await actOnListedKeys(context, { identityId }, change);
  const finish = async () => {
    await transact(context, async (work) => {
      const isDeleted = await deleteRecordOf(work, identityId);
      // An earlier call may have broken off after this step.
      if (!isDeleted && changed + unchanged === 0) throw notFound("identity");
    });
    return afterWriting(() => actOnEveryKey(context, { identityId }, change));
  };
  const total = changed + (await afterWriting(finish, changed > 0));
  return keys === "delete"
    ? { keys: "deleted", deletedKeys: total }
    : { keys: "disabled", disabledKeys: total };
}

/** @returns Whether the identity existed. */
async function deleteRecordOf({ transaction, audit }: Work, identityId: string): Promise<boolean> {
  const identity = await deleteRecord(transaction, identityType, identityId);
  if (identity === undefined) return false;
  const deletion = { type: "identity.deleted", resourceId: identityId } as const;
  audit({ ...deletion, ...deletedFields(identity, identityFields) });
  return true;
}

/** The uses after a change, if nothing takes any meanwhile. */
function usageAfter(before: Usage, change: UsageChange | undefined): Usage {
  const result = change && changeUsage(before, change);
  return result?.kind === "changed" ? result.usage : before;
}

/** An identity with its metadata, limits and uses, as of `now`. */
function toIdentityView(identity: IdentityRecord, usage: Usage, now: EpochMs): IdentityView {
  const { id, externalId, meta, ratelimits, refill } = identity;
  const { remaining, lastRefillAt, holds } = usageAt(usage, refill, now);
  const shown = { id, externalId, meta, ratelimits: toWireLimits(ratelimits), remaining };
  const restored = refill && toRefillView(refill, lastRefillAt);
  return withoutNull({ ...shown, reserved: holds?.uses || null, refill: restored });
}

/** The settings of an identity for the audit log. `remaining`: uses left, if the change sets them; undefined: not part of the change. */
function identityFields(identity: IdentityRecord, remaining?: number | null): AuditFields {
  const { refill, ...others } = identitySettings(identity);
  return { ...others, remaining, refill };
}
