import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { dueRefill } from "../../rules/refill.js";
import { applyRefill, type UsageChange } from "../../store/counters.js";
import { notFound, type OperationContext, untilFresh } from "../context.js";
import { evenWithIssues, id, orRequired, parseInput, wholeNumber } from "../input.js";
import { drawsFromIdentity, refuseUsageChange } from "../usage-refusal.js";

/**
 * Input of updateRemaining. `set` takes a whole number >= 0, or null for unlimited; `increment` and `decrement` a whole
 * number >= 1.
 */
export const updateRemainingInput = z
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

/**
 * Sets, raises or lowers the uses left, in one atomic step; a refill that is due is applied first.
 *
 * Setting null makes the key unlimited, and takes away its refill, which means nothing then.
 *
 * @returns The uses left afterwards; absent when unlimited.
 * @throws LatchkeyError `NOT_FOUND`; `BAD_REQUEST` for an increment or decrement of an unlimited key;
 * `PRECONDITION_FAILED` for a decrement below 0, and for a key that draws from its identity. A refusal changes nothing.
 */
export async function updateRemaining(
  context: OperationContext,
  input: z.input<typeof updateRemainingInput>,
): Promise<{ readonly remaining?: number }> {
  const { keyId, op, value } = parseInput(updateRemainingInput, input);
  const operation = toOperation(op, value);
  return untilFresh(async () => {
    const loaded = await context.store.getKey(context.workspaceId, keyId);
    if (loaded === null) throw notFound("key");
    if (loaded.key.usesFrom === "identity") throw drawsFromIdentity();
    const now = context.now();
    const makesUnlimited = operation.kind === "set" && operation.remaining === null;
    const settledAt = operation.kind === "set" ? now : 0;
    const { refill } = loaded.key;
    const due = dueRefill(refill, now);
    const { remaining } = applyRefill(loaded.usage, due);
    const patch = {
      usage: { due, operation, settledAt },
      updatedAt: now,
      ...(makesUnlimited && { refill: null }),
    };
    const changes = [
      noteChange(context, {
        type: "key.updated",
        at: now,
        resourceId: keyId,
        keyId,
        identityId: loaded.identity?.id ?? null,
        // As they were when this was decided: verifications move them without a word.
        before: { remaining, ...(makesUnlimited && { refill }) },
        after: { remaining: usesAfter(remaining, operation) },
      }),
    ];
    const result = await context.store.updateKey(
      context.workspaceId,
      keyId,
      loaded.key.version,
      patch,
      toLog(context, changes),
    );
    switch (result.kind) {
      case "updated":
        announce(context, changes);
        return result.usage.remaining === null ? {} : { remaining: result.usage.remaining };
      case "stale":
        return "stale";
      case "usage-refused":
        throw refuseUsageChange(result.reason, "value");
      case "not-found":
      case "missing-grants":
        throw notFound("key");
      default:
        return result satisfies never;
    }
  });
}

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
