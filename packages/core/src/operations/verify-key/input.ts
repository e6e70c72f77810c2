import { z } from "zod";
import { ADDRESS_ERROR, canonicalAddress } from "../../rules/address.js";
import { DEFAULT_LIMIT } from "../../rules/default-limit.js";
import type { LimitRequest, VerifyQuestion } from "../../verification/question.js";
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

/** Most characters of an id, a name or a tag, and most limits and tags of one request. */
export const VERIFY_BOUNDS = { text: 128, limits: 50, tags: 10 } as const;

const requestedLimit = z
  .strictObject({
    name: text(1, VERIFY_BOUNDS.text),
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

/** Limits that a request names; no two of one name. */
export const requestedLimits = list(requestedLimit, VERIFY_BOUNDS.limits, "limits").superRefine(
  (limits, context) => addDuplicateIssues(limits, context),
);

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
 * The library itself takes a `key` of any length: over the wire these are the bounds.
 */
export const verifyKeyInput = z.strictObject({
  key: presentedSecret,
  apiId: id.optional(),
  ipAddress: ipAddress.optional(),
  tags: list(text(1, VERIFY_BOUNDS.text), VERIFY_BOUNDS.tags, "tags").optional(),
  authorization: z.strictObject({ permissions: permissionQuery }).optional(),
  remaining: costed.optional(),
  ratelimits: requestedLimits.optional(),
  ratelimit: costed.optional(),
  requestId: text(1, VERIFY_BOUNDS.text).optional(),
  dryRun: flag.optional(),
});

/** As {@link verifyKeyInput}, but for `key`: a text that is too short or too long is no secret, and that is a verdict. */
const libraryInput = verifyKeyInput.extend({
  key: z.string({ error: orRequired("must be a string") }),
});

/** What is said of one key beside a question that was read before. */
const callInput = libraryInput.pick({ key: true, ipAddress: true, requestId: true, tags: true });

/** What names the key of a verification, and what leaves a trace. */
const notExplained = { key: true, tags: true, requestId: true, dryRun: true } as const;

type Explained<Question> = Omit<Question, keyof typeof notExplained> & { readonly keyId: string };

/** Input of explainKey: a key by its id, and the question of a verification. */
export const explainKeyInput: z.ZodType<
  Explained<z.output<typeof verifyKeyInput>>,
  Explained<VerifyKeyInput>
> = verifyKeyInput.omit(notExplained).extend({ keyId: id });

/** Input of verifyKey, as callers give it. */
export type VerifyKeyInput = z.input<typeof verifyKeyInput>;

/** A verification as it was asked for. */
export interface VerificationRequest {
  /** Of any length. */
  readonly secret: string;
  readonly question: VerifyQuestion;
  readonly requestId: string | undefined;
  readonly tags: readonly string[] | undefined;
  readonly isDryRun: boolean;
}

/**
 * Reads the input of verifyKey by its schema.
 *
 * @throws LatchkeyError `BAD_REQUEST` naming every bad field.
 */
export function readBySchema(input: unknown): VerificationRequest {
  const parsed = parseInput(libraryInput, input);
  return {
    secret: parsed.key,
    question: questionOf(parsed),
    requestId: parsed.requestId,
    tags: parsed.tags,
    isDryRun: parsed.dryRun === true,
  };
}

/**
 * Reads what a caller of a verifier says, by the schema.
 *
 * @throws LatchkeyError `BAD_REQUEST` naming every bad field.
 */
export function readCallBySchema(
  key: unknown,
  call: unknown,
  question: VerifyQuestion,
): VerificationRequest {
  const isObject = typeof call === "object" && call !== null;
  const parsed = parseInput(callInput, isObject || call === undefined ? { ...call, key } : call);
  return {
    secret: parsed.key,
    question: { ...question, address: parsed.ipAddress ?? null },
    requestId: parsed.requestId,
    tags: parsed.tags,
    isDryRun: false,
  };
}

/** Limits that a request names, in the words of the rules. */
export function limitRequestsOf(limits: z.output<typeof requestedLimits>): LimitRequest[] {
  return limits.map(({ name, cost, limit, duration }) => ({
    name,
    cost,
    adHoc: limit === undefined || duration === undefined ? null : { limit, duration },
    isOptional: false,
  }));
}

/** A question in the words of the rules. */
export function questionOf(parsed: Omit<z.output<typeof libraryInput>, "key">): VerifyQuestion {
  const limits = limitRequestsOf(parsed.ratelimits ?? []);
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
