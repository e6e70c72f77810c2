import { z } from "zod";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { PermissionQuery } from "../../rules/permission.js";
import type { VerifyQuestion } from "../../verification/question.js";
import type { VerifyOutcome } from "../../verification/verdict.js";
import type { OperationContext } from "../context.js";
import { grantQuery, id, parseInput, wholeNumber } from "../input.js";
import {
  limitRequestsOf,
  type RequestedLimit,
  readCallBySchema,
  requestedLimits,
} from "./input.js";
import { readCallByHand } from "./read-request.js";
import { EVERY_API, type VerifyScope } from "./scope.js";
import { verifySecret } from "./verify-key.js";

/** What a verifier asks of every key, beside whether it is alive. */
export interface VerifierInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** The API that the key must belong to; any unless given. */
  readonly apiId?: string | undefined;
  /**
   * What the key must be permitted to do: a name, or `{ and: [...] }` or `{ or: [...] }` of queries; nothing unless given. Names that no
   * permission can have are refused.
   */
  readonly permissions?: PermissionQuery<Types["permission"]> | undefined;
  /** Uses to take: whole and >= 0, 1 unless given; 0 takes nothing. */
  readonly cost?: number | undefined;
  /** Limits to take from beside those that always apply: at most 50, no two of one name. */
  readonly ratelimits?: readonly RequestedLimit<Types>[] | undefined;
}

/** Schema of the input of verifier. */
export const verifierInput = z.strictObject({
  apiId: id.optional(),
  permissions: grantQuery.optional(),
  cost: wholeNumber(0).default(1),
  ratelimits: requestedLimits.optional(),
});

/** What one call of a verifier says beside the key. */
export interface VerifierCall {
  /** The address that the key is presented from; a key of an API with an allow-list is refused without it. */
  readonly ipAddress?: string | undefined;
  /** Makes a retry harmless: 1 to 128 characters. */
  readonly requestId?: string | undefined;
  /** For listeners of events: at most 10, of 1 to 128 characters each. */
  readonly tags?: readonly string[] | undefined;
}

/** Asks one question about the key that is presented. Answers and errors as those of verifyKey. */
export type Verifier<Types extends LatchkeyTypes = DefaultTypes> = (
  key: string,
  call?: VerifierCall,
) => Promise<VerifyOutcome<Types>>;

/**
 * Makes a verifier: a question that is asked of many keys, read and checked once. A guarded route makes one when it is set up, and
 * calls it with every key that is presented.
 *
 * @throws LatchkeyError `BAD_REQUEST` naming every bad field of the question, at once.
 */
export function makeVerifier(
  context: OperationContext,
  input: VerifierInput = {},
  scope: VerifyScope = EVERY_API,
): Verifier {
  const { apiId = null, permissions = null, cost, ratelimits } = parseInput(verifierInput, input);
  const limits = limitRequestsOf(ratelimits ?? []);
  const question: VerifyQuestion = { apiId, address: null, permissions, cost, limits };
  return (key, call) => {
    try {
      const request = readCallByHand(key, call, question) ?? readCallBySchema(key, call, question);
      return verifySecret(context, request, scope);
    } catch (error) {
      return Promise.reject(error);
    }
  };
}
