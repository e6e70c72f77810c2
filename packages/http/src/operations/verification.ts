import { OPERATIONS as CORE_OPERATIONS, type Operations, parseInput } from "@latchkey/core";
import type { z } from "zod";
import type { Caller } from "../auth/callers.js";
import { canActOn } from "../auth/held-permissions.js";
import { onKeysOf } from "../auth/required-permissions.js";
import {
  defineOperation,
  type Operation,
  type OperationDefinition,
  operationIn,
} from "./operation.js";

/** Operations of core that verify a key by its secret. */
type VerificationName = "verifyKey" | "exchangeKey" | "reserve";

/** What an entry defines itself; the rest is the same for all entries. */
type VerificationDefinition<Name extends VerificationName, Response extends z.ZodType> = Omit<
  OperationDefinition<Name, Response>,
  | "operation"
  | "method"
  | "isVerification"
  | "headerFields"
  | "isKnownAllowed"
  | "requiredPermissions"
  | "run"
> & {
  /** The action that the caller must be allowed: on the named API, or on any API if none is named. */
  readonly action: "verify_key" | "reserve_key";
  readonly run: (
    caller: Caller,
    input: Parameters<Operations[Name]>[0],
  ) => ReturnType<Operations[Name]>;
};

/** Creates an operation that verifies a key. Its response begins with the id of the request. */
export function defineVerification<const Name extends VerificationName, Response extends z.ZodType>(
  name: `keys.${Name}`,
  definition: VerificationDefinition<Name, Response>,
): Operation {
  const { action, run, ...described } = definition as unknown as VerificationDefinition<
    "verifyKey",
    z.ZodType
  >;
  const scopeOf = ({ verifyScope, reserveScope }: Caller) =>
    action === "verify_key" ? verifyScope : reserveScope;
  const { input: schema } = CORE_OPERATIONS[operationIn<VerificationName>(name)];
  return defineOperation<"keys.verifyKey", z.ZodType>(name as "keys.verifyKey", {
    ...described,
    isVerification: true,
    headerFields: { requestId: "Idempotency-Key" },
    isKnownAllowed: (caller, { apiId }) => canActOn(scopeOf(caller), apiId),
    requiredPermissions: ({ apiId }) => onKeysOf(apiId, action),
    run: async (caller, input, requestId) => {
      // The library accepts any text, with the verdict NOT_FOUND. Over HTTP, a malformed secret is a mistake of the client.
      if (!isPresentedSecret(input.key)) parseInput(schema, input);
      // Not a spread: `assign` copies three times as fast, and this is the busiest line of all.
      return Object.assign({ requestId }, await run(caller, input));
    },
  });
}

/** Whether the length of a secret in UTF-16 units is certainly within its bounds. If not, the schema decides. */
function isPresentedSecret(key: unknown): boolean {
  return typeof key === "string" && key.length >= 1 && key.length <= 512;
}
