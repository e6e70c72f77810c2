import { z } from "zod";
import { ADDRESS_ERROR, canonicalAddress } from "../../rules/address.js";
import { DEFAULT_LIMIT } from "../../rules/default-limit.js";
import {
  type LimitRequest,
  PLAIN_QUESTION,
  type VerifyQuestion,
} from "../../verification/question.js";
import {
  addDuplicateIssues,
  flag,
  id,
  list,
  orRequired,
  parseInput,
  permissionQuery,
  presentedSecret,
  text,
  wholeNumber,
} from "../input.js";

const requestedLimit = z
  .strictObject({
    name: text(1, 128),
    cost: wholeNumber(0).default(1),
    limit: wholeNumber(1).optional(),
    duration: wholeNumber(1).optional(),
  })
  .superRefine(({ limit, duration }, context) => {
    if (limit !== undefined && duration === undefined) {
      context.addIssue({ code: "custom", path: ["duration"], message: "is required with limit" });
    }
    if (duration !== undefined && limit === undefined) {
      context.addIssue({ code: "custom", path: ["limit"], message: "is required with duration" });
    }
  });

/** What is taken: one by default. */
const costed = z.strictObject({ cost: wholeNumber(0).default(1) });

/** The address that a key is presented from, in its one form. */
const ipAddress = z.string({ error: ADDRESS_ERROR }).transform((value, context): string => {
  const canonical = canonicalAddress(value);
  if (canonical !== null) return canonical;
  context.addIssue({ code: "custom", message: ADDRESS_ERROR });
  return z.NEVER;
});

/**
 * Input of verifyKey. `key`: the presented secret, 1 to 512 characters. Costs are whole numbers >= 0; a cost of 0
 * takes nothing. A limit with `limit` and `duration` (ms) is an ad-hoc limit of the key; without them it must be
 * configured. `ratelimit.cost` is the deprecated way to give the cost of the limit named `default`. `ipAddress` is
 * the one that the key is presented from, as `decisions/0013` says; a key of an API with an allow-list is refused without it.
 *
 * `requestId` makes a retry harmless, as `verification/idempotency.ts` says. `dryRun` answers what would be answered, and why,
 * and leaves no trace; `requestId` is ignored then.
 *
 * The library itself takes a `key` of any length, see {@link readVerification}: over the wire these are the bounds.
 */
export const verifyKeyInput = z.strictObject({
  key: presentedSecret,
  apiId: id.optional(),
  ipAddress: ipAddress.optional(),
  tags: list(text(1, 128), 10, "tags").optional(),
  authorization: z.strictObject({ permissions: permissionQuery }).optional(),
  remaining: costed.optional(),
  ratelimits: list(requestedLimit, 50, "limits")
    .superRefine((limits, context) => addDuplicateIssues(limits, context))
    .optional(),
  ratelimit: costed.optional(),
  requestId: text(1, 128).optional(),
  dryRun: flag.optional(),
});

/** As {@link verifyKeyInput}, but for `key`: a text that is too short or too long is no secret, and that is a verdict. */
const libraryInput = verifyKeyInput.extend({
  key: z.string({ error: orRequired("must be a string") }),
});

/** Input of verifyKey, as callers give it. */
export type VerifyKeyInput = z.input<typeof verifyKeyInput>;

/** A verification as it was asked for, beside the secret. */
export interface VerificationRequest {
  readonly question: VerifyQuestion;
  /** Limits as the request names them. */
  readonly requested: readonly { readonly name: string }[] | undefined;
  readonly requestId: string | undefined;
  readonly tags: readonly string[] | undefined;
  readonly isDryRun: boolean;
}

/** Is this key good, for one use? */
export const PLAIN_REQUEST: VerificationRequest = Object.freeze({
  question: PLAIN_QUESTION,
  requested: undefined,
  requestId: undefined,
  tags: undefined,
  isDryRun: false,
});

/**
 * Reads the input of verifyKey.
 *
 * @throws LatchkeyError `BAD_REQUEST` naming every bad field.
 */
export function readVerification(input: VerifyKeyInput): {
  readonly secret: string;
  readonly request: VerificationRequest;
} {
  const parsed = parseInput(libraryInput, input);
  const request = {
    question: questionOf(parsed),
    requested: parsed.ratelimits,
    requestId: parsed.requestId,
    tags: parsed.tags,
    isDryRun: parsed.dryRun === true,
  };
  return { secret: parsed.key, request };
}

/**
 * The secret of the commonest input by far, `{ key }`; null of any other. Checked by hand: the schema costs more than the rest of
 * a verification in memory.
 */
export function bareSecret(input: unknown): string | null {
  if (typeof input !== "object" || input === null) return null;
  for (const field in input) if (field !== "key") return null;
  // Read once: a getter may answer another text the next time.
  const { key } = input as { readonly key?: unknown };
  return typeof key === "string" ? key : null;
}

/** A question in the words of the rules. */
function questionOf(parsed: z.output<typeof libraryInput>): VerifyQuestion {
  const limits: LimitRequest[] = (parsed.ratelimits ?? []).map(
    ({ name, cost, limit, duration }) => ({
      name,
      cost,
      adHoc: limit === undefined || duration === undefined ? null : { limit, duration },
      isOptional: false,
    }),
  );
  const isDefaultNamed = limits.some(({ name }) => name === DEFAULT_LIMIT);
  if (parsed.ratelimit !== undefined && !isDefaultNamed) {
    limits.unshift({
      name: DEFAULT_LIMIT,
      cost: parsed.ratelimit.cost,
      adHoc: null,
      isOptional: true,
    });
  }
  return {
    apiId: parsed.apiId ?? null,
    address: parsed.ipAddress ?? null,
    permissions: parsed.authorization?.permissions ?? null,
    cost: parsed.remaining?.cost ?? 1,
    limits,
  };
}
