import { z } from "zod";
import { badRequest, LatchkeyError } from "../../errors.js";
import { type IdentityRecord, identityType } from "../../records/identity.js";
import { type KeyRecord, keyType } from "../../records/key.js";
import type { RecordType } from "../../records/record-type.js";
import type { RateLimit } from "../../rules/rate-limit.js";
import type { ChargePlan, LimitReading } from "../../store/charge.js";
import type { Transaction } from "../../store/transaction.js";
import { adHocWindow, configuredWindow, namespaceWindow } from "../../verification/window-name.js";
import { transact } from "../context.js";
import { evenWithIssues, id, namespace, parseInput, text, wholeNumber } from "../input.js";
import { readRecordIn } from "../read.js";
import type { Run, TableOf } from "../run.js";
import { duration } from "../time-input.js";
import { refuseUsageChange } from "../uses-and-refill.js";
import type { LimitOperations } from "./operations.js";

const limitInput = z.strictObject({
  namespace: namespace.default("default"),
  identifier: text(1, 255),
  limit: wholeNumber(1),
  duration,
  cost: wholeNumber(0).default(1),
});

const resetLimitInput = z
  .strictObject({
    keyId: id.optional(),
    identityId: id.optional(),
    name: text(1, 128).optional(),
    namespace: namespace.optional(),
    identifier: text(1, 255).optional(),
    duration: duration.optional(),
  })
  .superRefine((input, context) => {
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: [path], message });
    const { keyId, identityId, name, namespace, identifier, duration } = input;
    if ([keyId, identityId, namespace].filter((one) => one !== undefined).length !== 1)
      refuse("keyId", "exactly one of keyId, identityId and namespace must be given");
    else if (namespace === undefined) {
      if (name === undefined) refuse("name", "is required");
      if (identifier !== undefined) refuse("identifier", "needs namespace");
      if (duration !== undefined && identityId !== undefined)
        refuse("duration", "must not be given with identityId");
    } else {
      if (identifier === undefined) refuse("identifier", "is required with namespace");
      if (duration === undefined) refuse("duration", "is required with namespace");
      if (name !== undefined) refuse("name", "must not be given with namespace");
    }
  }, evenWithIssues);

const limit: Run<LimitOperations["limit"]> = async (context, input) => {
  const { namespace, identifier, cost, limit, duration } = parseInput(limitInput, input);
  const window = namespaceWindow(namespace, identifier, duration);
  const plan: ChargePlan = {
    workspaceId: context.workspaceId,
    revision: null,
    confirms: [],
    mode: "commit",
    cost: 0,
    uses: null,
    limits: [{ name: namespace, limit, duration, cost, window, owner: null }],
  };
  const charge = await context.store.charge(plan, { now: context.now(), refill: null });
  if (charge.kind === "stale" || charge.kind === "conflict")
    throw new LatchkeyError(
      "INTERNAL_SERVER_ERROR",
      "the store refused a plan that rests on nothing",
    );
  const [reading] = charge.limits as readonly [LimitReading];
  const { remaining, resetAt } = reading;
  return { success: charge.kind === "charged", limit, remaining, reset: resetAt };
};

const reset = { type: "ratelimit.reset" } as const;

const resetLimit: Run<LimitOperations["resetLimit"]> = async (context, input) => {
  const parsed = parseInput(resetLimitInput, input);
  const { keyId, identityId, namespace, identifier, duration } = parsed;
  const name = parsed.name as string;
  await transact(context, async (transaction, audit) => {
    if (keyId !== undefined) {
      const key = await dropNamed(transaction, keyType, keyId, name, duration !== undefined);
      if (duration !== undefined)
        transaction.dropWindows([adHocWindow(key.sharedCountersId ?? key.id, { name, duration })]);
      const { identityId } = key;
      audit({ ...reset, resourceId: keyId, keyId, identityId, before: { name } });
    } else if (identityId !== undefined) {
      await dropNamed(transaction, identityType, identityId, name, false);
      audit({ ...reset, resourceId: identityId, identityId, before: { name } });
    } else {
      const window = namespaceWindow(namespace as string, identifier as string, duration as number);
      transaction.dropWindows([window]);
      audit({ ...reset, resourceId: namespace as string, before: { name: identifier as string } });
    }
  });
  return {};
};

/**
 * Drops the windows of the limits of this name. As a verification does, it refuses a name that nothing configures: a misspelt one must
 * not pass for a reset.
 *
 * @param isAdHoc - Whether the name may be that of a limit that requests make up.
 */
async function dropNamed<Value extends KeyRecord | IdentityRecord>(
  transaction: Transaction,
  type: RecordType<Value>,
  id: string,
  name: string,
  isAdHoc: boolean,
): Promise<Value> {
  const kind = type.kind as "key" | "identity";
  const { value } = await readRecordIn(transaction, type, { kind, id }, kind);
  const limits: readonly RateLimit[] = value.ratelimits;
  const dropWindows = limits.filter((limit) => limit.name === name).map(configuredWindow);
  if (dropWindows.length === 0 && !isAdHoc) {
    const hint = kind === "key" ? ": one that requests make up needs duration" : "";
    throw badRequest([{ path: "name", message: `no limit of this ${kind} has this name${hint}` }]);
  }
  transaction.changeCounters({ kind, id, dropWindows }, (reason) =>
    refuseUsageChange(reason, "name"),
  );
  return value;
}

/** How {@link LimitOperations} run. */
export const LIMIT_TABLE = {
  limit: { run: limit, input: limitInput },
  resetLimit: { run: resetLimit, input: resetLimitInput },
} satisfies TableOf<LimitOperations>;
