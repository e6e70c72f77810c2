import { z } from "zod";
import { badRequest, type LatchkeyError } from "../../errors.js";
import { identityType } from "../../records/identity.js";
import { keyType } from "../../records/key.js";
import type { RecordType } from "../../records/record-type.js";
import type { Duration } from "../../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes, LimitName } from "../../rules/latchkey-types.js";
import type { Transaction } from "../../store/transaction.js";
import { adHocWindow, configuredWindow, namespaceWindow } from "../../verification/window-name.js";
import { type Audit, type OperationContext, transact } from "../context.js";
import { evenWithIssues, id, namespace, parseInput, text } from "../input.js";
import { readRecordIn } from "../read-record.js";
import { duration } from "../time-input.js";
import { refuseUsageChange } from "../usage-refusal.js";

/**
 * Input of resetLimit: a limit of a key (`keyId` and `name`) or of an identity (`identityId` and `name`), or the one of a
 * namespace (`namespace`, `identifier` and `duration`).
 */
export interface ResetLimitInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** Id of the key. */
  readonly keyId?: string | undefined;
  /** Id of the identity. */
  readonly identityId?: string | undefined;
  /** Name of the limit of the key or the identity: 1 to 128 characters. */
  readonly name?: LimitName<Types> | undefined;
  /** As in limit: 1 to 128 of `A-Z a-z 0-9 _ . : -`. */
  readonly namespace?: string | undefined;
  /** As in limit: 1 to 255 characters. */
  readonly identifier?: string | undefined;
  /**
   * Length of the window: whole ms >= 1, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`. With `keyId` it names a limit that
   * requests make up; not with `identityId`.
   */
  readonly duration?: Duration | undefined;
}

/** Schema of the input of resetLimit. */
export const resetLimitInput = z
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

/** @see LimitOperations.resetLimit */
export async function resetLimit(
  context: OperationContext,
  input: ResetLimitInput,
): Promise<Record<string, never>> {
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
}

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
