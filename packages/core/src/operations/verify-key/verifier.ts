import { z } from "zod";
import { isObject, type OwnFields, ownFieldsOf } from "../../lib/own-fields.js";
import { parseInput, unreadable } from "../../lib/parse-input.js";
import type { Duration } from "../../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { PermissionQuery } from "../../rules/permission.js";
import type { LimitCost, VerifyQuestion } from "../../verification/question.js";
import type { VerifyOutcome } from "../../verification/verdict.js";
import type { OperationContext } from "../context.js";
import { environment, grantQuery, id, optional, wholeNumber } from "../input.js";
import {
  limitRequestsOf,
  type RequestedLimit,
  readCallBySchema,
  reservationTtl,
  type VerifyKeyInput,
  verifierLimits,
} from "./input.js";
import { EVERY_API, type VerifyScope } from "./operations.js";
import { readCallByHand } from "./read-request.js";
import { verifySecret } from "./verify-key.js";

/** A limit that every call of a verifier takes from. */
export interface VerifierLimit<Types extends LatchkeyTypes = DefaultTypes>
  extends RequestedLimit<Types> {
  /**
   * True: a limit that the key or its identity has by this name wins over `limit` and `duration`, and without these, a name that neither
   * has is ignored. False (default): `limit` and `duration` win, and a name that neither has is an error.
   */
  readonly fallback?: boolean | undefined;
}

/** What a verifier requires of every key. `apiId`, `environment`, `permissions` and `ratelimits` are refused if present but undefined. */
export interface VerifierInput<Types extends LatchkeyTypes = DefaultTypes>
  extends Pick<VerifyKeyInput<Types>, "apiId" | "environment"> {
  /**
   * Permissions that the key must have: a name, or `{ and: [...] }` or `{ or: [...] }` of queries. Impossible names are refused. Default:
   * none.
   */
  readonly permissions?: PermissionQuery<Types["permission"]> | undefined;
  /** Uses to take: whole and >= 0. Default: 1. */
  readonly cost?: number | undefined;
  /** Limits to take from, besides those that always apply: at most 50, each name once. */
  readonly ratelimits?: readonly VerifierLimit<Types>[] | undefined;
  /**
   * Makes each verification a reservation, like `reserve`, held for this long: whole ms from 1,000 to 86,400,000, or a text such as `"30s"`
   * or `"1h"`.
   */
  readonly ttl?: Duration | undefined;
}

export const verifierInput = z.strictObject({
  ...optional({ apiId: id, environment, permissions: grantQuery }),
  cost: wholeNumber(0).default(1),
  ...optional({ ratelimits: verifierLimits, ttl: reservationTtl }),
});

const QUESTION_FIELDS: OwnFields = {
  known: new Set(Object.keys(verifierInput.shape)),
  stated: ["apiId", "environment", "permissions", "ratelimits"],
};
const LIMIT_FIELDS: OwnFields = {
  known: new Set(["name", "cost", "limit", "duration", "algorithm", "burst", "shadow", "fallback"]),
  stated: ["limit", "duration"],
};

/** Options of one call of a verifier. */
export interface VerifierCall extends Pick<VerifyKeyInput, "ipAddress" | "tags"> {
  /** Makes a retry safe, as in verifyKey: 1 to 128 characters. */
  readonly requestId?: string | undefined;
  /** Uses to take instead of the verifier's `cost`: whole and >= 0. */
  readonly cost?: number | undefined;
  /** Units to take from limits of the verifier instead of their `cost`: whole and >= 0. */
  readonly ratelimits?: readonly LimitCost[] | undefined;
}

/** Verifies a key. Verdicts and errors are those of verifyKey. */
export type Verifier<Types extends LatchkeyTypes = DefaultTypes> = (
  key: string,
  call?: VerifierCall,
) => Promise<VerifyOutcome<Types>>;

/** Creates a verifier: a question for many keys, read and checked once. Throws like `Latchkey.verifier`. */
export function makeVerifier(
  context: OperationContext,
  input: VerifierInput = {},
  scope: VerifyScope = EVERY_API,
): Verifier {
  const parsed = parseInput(verifierInput, ownQuestion(input));
  const { apiId = null, environment, permissions = null, cost, ratelimits = [], ttl } = parsed;
  const limits = limitRequestsOf(ratelimits);
  const question: VerifyQuestion = {
    apiId,
    ...(environment !== undefined && { environment }),
    address: null,
    permissions,
    cost,
    limits,
    ...(ttl !== undefined && { ttl }),
  };
  return (key, call) => {
    try {
      const request = readCallByHand(key, call, question) ?? readCallBySchema(key, call, question);
      return verifySecret(context, request, scope);
    } catch (error) {
      return Promise.reject(unreadable(error, call));
    }
  };
}

/** The question with its own fields only, not inherited ones. */
function ownQuestion(input: unknown): unknown {
  if (!isObject(input)) return input;
  const question = ownFieldsOf(input, QUESTION_FIELDS);
  const { ratelimits } = question;
  if (Array.isArray(ratelimits))
    question.ratelimits = ratelimits.map((limit: unknown, index) =>
      isObject(limit)
        ? ownFieldsOf(limit, { ...LIMIT_FIELDS, path: `ratelimits.${index}.` })
        : limit,
    );
  return question;
}
