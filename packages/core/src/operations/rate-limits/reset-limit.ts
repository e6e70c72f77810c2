import { z } from "zod";
import { badRequest, type LatchkeyError } from "../../errors.js";
import { identityType } from "../../records/identity.js";
import { keyType } from "../../records/key.js";
import type { RecordType } from "../../records/record-type.js";
import type { Transaction } from "../../store/transaction.js";
import { adHocWindow, configuredWindow, namespaceWindow } from "../../verification/window-name.js";
import { type Audit, type OperationContext, transact } from "../context.js";
import { evenWithIssues, id, namespace, parseInput, text } from "../input.js";
import { readRecordIn } from "../read.js";
import type { Run, TableOf } from "../run.js";
import { duration } from "../time-input.js";
import { refuseUsageChange } from "../uses-and-refill.js";
import { limit, limitInput } from "./limit.js";
import type { LimitOperations } from "./operations.js";

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

const resetLimit: Run<LimitOperations["resetLimit"]> = async (context, input) => {
  const parsed = parseInput(resetLimitInput, input);
  const { keyId, identityId, namespace, identifier, duration } = parsed;
  const name = parsed.name as string;
  await transact(context, async (transaction, audit) => {
    if (keyId !== undefined) await resetOfKey(context, transaction, audit, keyId, name, duration);
    else if (identityId !== undefined) {
      const { value } = await recordOf(transaction, identityType, "identity", identityId);
      const windows = windowsNamed(value.ratelimits, name);
      if (windows.length === 0) throw unknownLimit("no limit of this identity has this name");
      dropWindows(transaction, "identity", identityId, windows);
      auditReset(context, audit, { identityId, resourceId: identityId }, name);
    } else {
      const window = namespaceWindow(namespace as string, identifier as string, duration as number);
      transaction.dropWindows([window]);
      auditReset(context, audit, { resourceId: namespace as string }, identifier as string);
    }
  });
  return {};
};

async function resetOfKey(
  context: OperationContext,
  transaction: Transaction,
  audit: Audit,
  keyId: string,
  name: string,
  duration: number | undefined,
): Promise<void> {
  const { value: key } = await recordOf(transaction, keyType, "key", keyId);
  const windows = windowsNamed(key.ratelimits, name);
  if (windows.length === 0 && duration === undefined)
    throw unknownLimit(
      "no limit of this key has this name: one that requests make up needs duration",
    );
  dropWindows(transaction, "key", keyId, windows);
  if (duration !== undefined)
    transaction.dropWindows([adHocWindow(key.sharedCountersId ?? key.id, { name, duration })]);
  auditReset(context, audit, { keyId, identityId: key.identityId, resourceId: keyId }, name);
}

function recordOf<Value>(
  transaction: Transaction,
  type: RecordType<Value>,
  kind: "key" | "identity",
  recordId: string,
) {
  return readRecordIn(transaction, type, { kind, id: recordId }, kind);
}

/** As a verification refuses a name that nothing configures: a misspelt one must not pass for a reset. */
function unknownLimit(message: string): LatchkeyError {
  return badRequest([{ path: "name", message }]);
}

function windowsNamed(
  limits: readonly { readonly name: string; readonly duration: number }[],
  name: string,
): readonly string[] {
  return limits.filter((limit) => limit.name === name).map(configuredWindow);
}

function dropWindows(
  transaction: Transaction,
  kind: "key" | "identity",
  recordId: string,
  windows: readonly string[],
): void {
  transaction.changeCounters({ kind, id: recordId, dropWindows: windows }, (reason) =>
    refuseUsageChange(reason, "name"),
  );
}

function auditReset(
  context: OperationContext,
  audit: Audit,
  about: {
    readonly resourceId: string;
    readonly keyId?: string;
    readonly identityId?: string | null;
  },
  name: string,
): void {
  audit({ type: "ratelimit.reset", at: context.now(), ...about, before: { name } });
}

/** How {@link LimitOperations} run. */
export const LIMIT_TABLE = {
  limit: { run: limit, input: limitInput },
  resetLimit: { run: resetLimit, input: resetLimitInput },
} satisfies TableOf<LimitOperations>;
