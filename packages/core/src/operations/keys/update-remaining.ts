import { z } from "zod";
import { keyType } from "../../records/key.js";
import { dueRefill, refillAfter } from "../../rules/refill.js";
import { applyRefill, type UsageChange } from "../../store/counters.js";
import { transact } from "../context.js";
import { evenWithIssues, id, orRequired, wholeNumber } from "../input.js";
import { operation } from "../operation.js";
import { isAhead, refuseUsageChange, usesAreOfIdentity } from "../uses-and-refill.js";
import { readKey } from "./load.js";

const updateRemainingInput = z
  .strictObject({
    keyId: id,
    op: z.enum(["set", "increment", "decrement"], {
      error: orRequired('must be "set", "increment" or "decrement"'),
    }),
    value: wholeNumber(0).nullable(),
  })
  .refine(({ op, value }) => op === "set" || (value !== null && value !== 0), {
    ...evenWithIssues,
    path: ["value"],
    error: "must be a whole number >= 1",
  });

export const updateRemaining = operation(
  updateRemainingInput,
  async (context, { keyId, op, value }) => {
    const change = toOperation(op, value);
    const { answer, usages } = await transact(context, async ({ transaction, audit }) => {
      const { key, usage, identity } = await readKey(context, transaction, keyId);
      if (key.usesFrom === "identity") throw usesAreOfIdentity();
      const now = context.now();
      const makesUnlimited = change.kind === "set" && change.remaining === null;
      const due = dueRefill(key.refill, now);
      const { remaining } = applyRefill(usage, due);
      const after = usesAfter(remaining, change);
      // What is set to what it is changes nothing, unless a clock that was ahead is mended by it.
      if (change.kind === "set" && after === remaining && !isAhead(usage, now)) return remaining;
      const refill = refillAfter(key.refill, after);
      const keepsVersion = refill === key.refill;
      transaction.update(keyType, key, { ...key, refill, updatedAt: now }, keepsVersion);
      const restartsAt = change.kind === "set" ? now : null;
      transaction.changeCounters(
        { kind: "key", id: keyId, usage: { due, operation: change, restartsAt } },
        (reason) => refuseUsageChange(reason, "value"),
      );
      audit({
        type: "key.updated",
        at: now,
        resourceId: keyId,
        identityId: identity?.id ?? null,
        // As they were when this was decided: verifications move them without an entry.
        before: { remaining, ...(makesUnlimited && { refill: key.refill }) },
        after: { remaining: after },
      });
      return after;
    });
    const { remaining } = usages[0] ?? { remaining: answer };
    return remaining === null ? {} : { remaining };
  },
);

function usesAfter(
  remaining: number | null,
  operation: ReturnType<typeof toOperation>,
): number | null {
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
