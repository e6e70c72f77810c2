import { z } from "zod";
import type { ChangeDescription } from "../../audit/entry.js";
import { identityType } from "../../records/identity.js";
import { keyType } from "../../records/key.js";
import { dueRefill, type Refill, refillAfter, refillSetting } from "../../rules/refill.js";
import { applyRefill, countedRefill, type Usage, type UsageChange } from "../../store/counters.js";
import type { Transaction } from "../../store/transaction.js";
import type { EpochMs } from "../../time.js";
import { aboveCeilingError, keyRulesOf } from "../apis/key-rules.js";
import { inSteps, type OperationContext, transactUses } from "../context.js";
import { type IdentityReference, identityIds, identityWant } from "../identities/reference.js";
import { evenWithIssues, exactlyOneOf, id, oneOf, wholeNumber } from "../input.js";
import { operation } from "../operation.js";
import { readRecordIn, usageOf } from "../read.js";
import { isMoreThanSet, refuseUsageChange, usesAreOfIdentity } from "../uses-and-refill.js";
import { readKey } from "./load.js";

const updateRemainingInput = z
  .strictObject({
    keyId: id.optional(),
    ...identityIds,
    op: oneOf(["set", "increment", "decrement"]),
    value: wholeNumber(0).nullable(),
  })
  .refine(...exactlyOneOf("keyId", "identityId", "externalId"))
  .refine(({ op, value }) => op === "set" || (value !== null && value !== 0), {
    ...evenWithIssues,
    path: ["value"],
    error: "must be a whole number >= 1",
  });

/** The use counter of a key or an identity as it was read, and how to write its record. */
interface UsesAsRead {
  readonly kind: "key" | "identity";
  readonly id: string;
  readonly usage: Usage;
  readonly refill: Refill | null;
  /** The most that uses may be raised to; undefined: no bound. */
  readonly maxRemaining?: number | undefined;
  /** Writes the record for a change of its uses. */
  readonly write: (refill: Refill | null, now: EpochMs) => void;
  readonly entry: Pick<ChangeDescription, "type" | "resourceId" | "identityId">;
}

export const updateRemaining = operation(
  updateRemainingInput,
  async (context, { keyId, op, value, ...ids }) => {
    const change = toOperation(op, value);
    const { answer, usages } = await transactUses(inSteps(context), async (work) => {
      const { transaction, audit } = work;
      const { kind, id, usage, refill, maxRemaining, write, entry } =
        keyId === undefined
          ? await readIdentityUses(transaction, ids)
          : await readKeyUses(context, transaction, keyId);
      const now = context.now();
      const makesUnlimited = change.kind === "set" && change.remaining === null;
      const due = countedRefill(usage, dueRefill(refill, now));
      const { remaining } = applyRefill(usage, due);
      const after = usesAfter(remaining, change);
      // Setting the current value changes nothing, unless it repairs a counter from a clock that was ahead, or uses are held.
      if (change.kind === "set" && after === remaining && !isMoreThanSet(usage, now, true))
        return remaining;
      const isRaised = remaining !== null && (after === null || after > remaining);
      const isChanged = isRaised || (change.kind === "set" && after !== null);
      if (maxRemaining !== undefined && isChanged && (after === null || after > maxRemaining))
        throw aboveCeilingError({ field: "value", limit: maxRemaining });
      write(refillAfter(refill, after), now);
      const restartsAt = change.kind === "set" ? now : null;
      transaction.changeCounters(
        { kind, id, usage: { due, operation: change, restartsAt } },
        (reason) => refuseUsageChange(reason, "value", usage.holds?.uses),
      );
      audit({
        ...entry,
        at: now,
        // The values that this change was based on: verifications change them without an entry.
        before: { remaining, ...(makesUnlimited && { refill: refill && refillSetting(refill) }) },
        after: { remaining: after },
      });
      return after;
    });
    const { remaining } = usages[0] ?? { remaining: answer };
    return remaining === null ? {} : { remaining };
  },
);

async function readKeyUses(
  context: OperationContext,
  transaction: Transaction,
  keyId: string,
): Promise<UsesAsRead> {
  const { key, api, usage, identity } = await readKey(context, transaction, keyId);
  const maxRemaining = keyRulesOf(api).ceilings?.maxRemaining;
  if (key.usesFrom === "identity") throw usesAreOfIdentity();
  return {
    kind: "key",
    id: keyId,
    usage,
    refill: key.refill,
    maxRemaining,
    write: (refill, now) =>
      transaction.update(
        keyType,
        key,
        { ...key, refill, updatedAt: now },
        // The version stays if only uses change. Under a ceiling it changes, so that two calls that raise the uses conflict.
        refill === key.refill && maxRemaining === undefined,
      ),
    entry: { type: "key.updated", resourceId: keyId, identityId: identity?.id ?? null },
  };
}

async function readIdentityUses(
  transaction: Transaction,
  ids: IdentityReference,
): Promise<UsesAsRead> {
  const { value, loaded } = await readRecordIn(transaction, identityType, identityWant(ids));
  return {
    kind: "identity",
    id: value.id,
    usage: usageOf(loaded),
    refill: value.refill,
    write: (refill) => {
      if (refill !== value.refill) transaction.update(identityType, value, { ...value, refill });
    },
    entry: { type: "identity.updated", resourceId: value.id },
  };
}

function usesAfter(remaining: number | null, operation: ReturnType<typeof toOperation>) {
  if (operation.kind === "set") return operation.remaining;
  if (remaining === null) return null;
  return operation.kind === "increment"
    ? remaining + operation.by
    : Math.max(0, remaining - operation.by);
}

function toOperation(
  op: "set" | "increment" | "decrement",
  value: number | null,
): Exclude<UsageChange["operation"], { readonly kind: "keep" }> {
  return op === "set" ? { kind: "set", remaining: value } : { kind: op, by: value as number };
}
