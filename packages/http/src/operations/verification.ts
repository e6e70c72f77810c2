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

/** What an entry says itself; the rest is the same for all of them. */
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
  /** What a caller needs, for the API that is named, or for any. */
  readonly action: "verify_key" | "reserve_key";
  readonly run: (
    caller: Caller,
    input: Parameters<Operations[Name]>[0],
  ) => ReturnType<Operations[Name]>;
};

/** Checks an entry that verifies a key: the answer begins with the id of the request. */
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
      // For the library any text is a question, with the verdict NOT_FOUND. Over HTTP a malformed one is a mistake.
      if (!isPresentedSecret(input.key)) parseInput(schema, input);
      // Not a spread: the engine copies by assign three times as fast, and this is the busiest line of all.
      return Object.assign({ requestId }, await run(caller, input));
    },
  });
}

/** Whether a key is within its bounds, as far as its length in UTF-16 units tells; the schema decides about the rest. */
function isPresentedSecret(key: unknown): boolean {
  return typeof key === "string" && key.length >= 1 && key.length <= 512;
}
