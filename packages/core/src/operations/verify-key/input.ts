import { z } from "zod";
import { badRequest } from "../../errors.js";
import { parseInput } from "../../lib/parse-input.js";
import { ADDRESS_ERROR, canonicalAddress } from "../../rules/address.js";
import type { Duration } from "../../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes, LimitName } from "../../rules/latchkey-types.js";
import type { PermissionQuery } from "../../rules/permission.js";
import { DEFAULT_LIMIT, fromWireFigures, type PartialWireLimit } from "../../rules/rate-limit.js";
import type { SpanMs } from "../../time.js";
import type { LimitCost, LimitRequest, VerifyQuestion } from "../../verification/question.js";
import {
  anyText,
  environment,
  flag,
  type IssueSink,
  id,
  type KeyReference,
  list,
  optional,
  permissionQuery,
  presentedSecret,
  readBy,
  refuseField,
  text,
  wholeNumber,
} from "../input.js";
import {
  addCountingIssues,
  countingFields,
  type LimitFiguresInput,
  limitList,
  MOST_LIMITS,
} from "../limit-input.js";
import { duration, spanBetween } from "../time-input.js";

/** Most characters of an id, a name or a tag, and most limits and tags of one request. */
export const VERIFY_BOUNDS = { text: 128, limits: MOST_LIMITS, tags: 10 } as const;

const [SHORTEST_TTL, LONGEST_TTL] = [1_000, 86_400_000] as const;

export const USUAL_TTL: SpanMs = 300_000;

export const reservationTtl = spanBetween(SHORTEST_TTL, LONGEST_TTL, "from 1,000 to 86,400,000 ms");

export function isReservationTtl(ms: SpanMs): boolean {
  return ms >= SHORTEST_TTL && ms <= LONGEST_TTL;
}

export const requestedLimit = {
  name: text(1, VERIFY_BOUNDS.text),
  cost: wholeNumber(0).default(1),
  ...optional({ limit: wholeNumber(1), duration }),
  ...countingFields,
};

/** A limit has `limit` and `duration` or neither; only with them may it say how it counts. */
function addFigureIssues(given: PartialWireLimit, sink: IssueSink): void {
  const present = (["limit", "duration", "algorithm", "burst", "shadow"] as const).find(
    (field) => given[field] !== undefined,
  );
  for (const path of ["limit", "duration"] as const)
    if (present !== undefined && given[path] === undefined)
      refuseField(sink, path, `is required with ${present}`);
  addCountingIssues(given, sink);
}

/** Limits that a request names, each name once. */
const requestedLimits = limitList(z.strictObject(requestedLimit).superRefine(addFigureIssues));

/** The same for a verifier. */
export const verifierLimits = limitList(
  z.strictObject({ ...requestedLimit, fallback: flag.default(false) }).superRefine(addFigureIssues),
);

/** Units to take from a limit that is known by its name. */
export const limitCost = z.strictObject({ name: requestedLimit.name, cost: wholeNumber(0) });

const costed = z.strictObject({ cost: wholeNumber(0).default(1) });

/** The address that a key is presented from, in canonical form. */
const ipAddress = z
  .string({ error: ADDRESS_ERROR })
  .transform(readBy(canonicalAddress, ADDRESS_ERROR));

/** Input of verifyKey. An undefined field counts as absent. */
export type VerifyKeyInput<Types extends LatchkeyTypes = DefaultTypes> = {
  /** The presented secret: any text; over HTTP, 1 to 512 characters. */
  readonly key: string;
  /** The API that the key must belong to. Default: any. */
  readonly apiId?: string | undefined;
  /** The environment that the key must have. Default: any, or none. */
  readonly environment?: string | undefined;
  /** The caller's IPv4 or IPv6 address. Required if the key or its API has an `ipWhitelist`. */
  readonly ipAddress?: string | undefined;
  /** Labels for your own statistics, shown in events: at most 10, of 1 to 128 characters each. */
  readonly tags?: readonly string[] | undefined;
  /** Permissions that the key must have. Default: none. */
  readonly authorization?:
    | {
        /** A name, or `{ and: [...] }` or `{ or: [...] }` of queries: at most 16 deep and 1,000 names and groups. */
        readonly permissions: PermissionQuery<Types["permission"]>;
      }
    | undefined;
  /** Uses to take. A key without any left is refused at a cost of 0 too. */
  readonly remaining?: Costed | undefined;
  /** Limits to take from, besides those that always apply: at most 50, each name once. */
  readonly ratelimits?: readonly RequestedLimit<Types>[] | undefined;
  /** Deprecated: units to take from the limit named `default`. */
  readonly ratelimit?: Costed | undefined;
  /** Makes a retry safe for 10 minutes: the same verdict, charged once. 1 to 128 characters. Ignored by a dry run. */
  readonly requestId?: string | undefined;
  /** Whether to return the verdict and its reasons without taking or counting anything, and without an event. Default: false. */
  readonly dryRun?: boolean | undefined;
};

/** Cost of a verification. */
export interface Costed {
  /** Whole and >= 0. Default: 1. */
  readonly cost?: number | undefined;
}

/** A limit to take from: one of the key or its identity, or with `limit` and `duration` an ad-hoc one. */
export interface RequestedLimit<Types extends LatchkeyTypes = DefaultTypes>
  extends Costed,
    Pick<LimitFiguresInput, "algorithm" | "burst" | "shadow"> {
  /** 1 to 128 characters. */
  readonly name: LimitName<Types>;
  /** Units per `duration`, whole and >= 1; together with `duration`. */
  readonly limit?: number | undefined;
  /** Whole ms, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`; together with `limit`. */
  readonly duration?: Duration | undefined;
}

/** Schema of the input of verifyKey over the wire. The library itself takes a `key` of any length. */
export const verifyKeyInput = z.strictObject({
  key: presentedSecret,
  ...optional({
    apiId: id,
    environment,
    ipAddress,
    tags: list(text(1, VERIFY_BOUNDS.text), VERIFY_BOUNDS.tags, "tags"),
    authorization: z.strictObject({ permissions: permissionQuery }),
    remaining: costed,
    ratelimits: requestedLimits,
    ratelimit: costed,
    requestId: text(1, VERIFY_BOUNDS.text),
    dryRun: flag,
  }),
});

/** Like {@link verifyKeyInput}, except for `key`: a text that is too short or too long is not an error here, but gets a verdict. */
const libraryInput = verifyKeyInput.extend({ key: anyText });

/** Schema of the input of reserve over the wire. */
export const reserveInput = verifyKeyInput
  .omit({ dryRun: true })
  .extend({ ttl: reservationTtl.default(USUAL_TTL) });

const libraryReserveInput = reserveInput.extend({ key: anyText });

/** What one call of a verifier adds to its question. */
export const callInput = libraryInput
  .pick({ key: true, ipAddress: true, requestId: true, tags: true })
  .extend(
    optional({
      cost: wholeNumber(0),
      ratelimits: list(limitCost, VERIFY_BOUNDS.limits, "limits"),
    }),
  );

/** Input of explainKey: the id of a key, and the input of a verification. */
export type ExplainKeyInput<Types extends LatchkeyTypes = DefaultTypes> = KeyReference &
  Omit<VerifyKeyInput<Types>, "key" | "tags" | "requestId" | "dryRun">;

export const explainKeyInput = verifyKeyInput
  .omit({ key: true, tags: true, requestId: true, dryRun: true })
  .extend({ keyId: id });

export interface VerificationRequest {
  /** Of any length. */
  readonly secret: string;
  readonly question: VerifyQuestion;
  readonly requestId: string | undefined;
  readonly tags: readonly string[] | undefined;
  readonly isDryRun: boolean;
}

/** Reads the input of verifyKey by its schema. @throws LatchkeyError `BAD_REQUEST` naming every bad field. */
export function readBySchema(input: unknown): VerificationRequest {
  return requestIn(parseInput(libraryInput, input));
}

/** Reads the input of reserve by its schema. @throws LatchkeyError `BAD_REQUEST` naming every bad field. */
export function readReservationBySchema(input: unknown): VerificationRequest {
  const parsed = parseInput(libraryReserveInput, input);
  const request = requestIn(parsed);
  return { ...request, question: { ...request.question, ttl: parsed.ttl } };
}

export function requestIn(parsed: z.output<typeof libraryInput>): VerificationRequest {
  const { key: secret, requestId, tags, dryRun = false } = parsed;
  return { secret, question: questionOf(parsed), requestId, tags, isDryRun: dryRun };
}

/** Reads the call of a verifier by its schema. @throws LatchkeyError `BAD_REQUEST` naming every bad field. */
export function readCallBySchema(
  key: unknown,
  call: unknown,
  question: VerifyQuestion,
): VerificationRequest {
  const isObject = typeof call === "object" && call !== null;
  const parsed = parseInput(callInput, isObject || call === undefined ? { ...call, key } : call);
  const { cost = question.cost, ratelimits = [] } = parsed;
  const issues = ratelimits.flatMap(({ name }, index) =>
    question.limits.some((limit) => limit.name === name)
      ? []
      : [{ path: `ratelimits.${index}.name`, message: "must name a limit of the request" }],
  );
  if (issues.length > 0) throw badRequest(issues);
  const limits = atOtherCosts(question.limits, ratelimits);
  return {
    secret: parsed.key,
    question: { ...question, address: parsed.ipAddress ?? null, cost, limits },
    requestId: parsed.requestId,
    tags: parsed.tags,
    isDryRun: false,
  };
}

/** The limits of a question; those that `costs` names cost what it says. */
export function atOtherCosts(
  limits: readonly LimitRequest[],
  costs: readonly LimitCost[],
): readonly LimitRequest[] {
  if (costs.length === 0) return limits;
  return limits.map((limit) => ({
    ...limit,
    cost: costs.find(({ name }) => name === limit.name)?.cost ?? limit.cost,
  }));
}

/** Limits that a request names, in the words of the rules. */
export function limitRequestsOf(
  limits: readonly (z.output<typeof requestedLimits>[number] & { readonly fallback?: boolean })[],
): LimitRequest[] {
  return limits.map(({ name, cost, fallback = false, limit, duration, ...counting }) => ({
    name,
    cost,
    adHoc:
      limit === undefined || duration === undefined
        ? null
        : fromWireFigures({ limit, duration, ...counting }),
    isOptional: fallback,
  }));
}

export function questionOf(parsed: Omit<z.output<typeof libraryInput>, "key">): VerifyQuestion {
  const limits = limitRequestsOf(parsed.ratelimits ?? []);
  const isDefaultNamed = limits.some(({ name }) => name === DEFAULT_LIMIT);
  if (parsed.ratelimit !== undefined && !isDefaultNamed)
    limits.unshift({
      name: DEFAULT_LIMIT,
      cost: parsed.ratelimit.cost,
      adHoc: null,
      isOptional: true,
    });
  return {
    apiId: parsed.apiId ?? null,
    ...(parsed.environment !== undefined && { environment: parsed.environment }),
    address: parsed.ipAddress ?? null,
    permissions: parsed.authorization?.permissions ?? null,
    cost: parsed.remaining?.cost ?? 1,
    limits,
  };
}
