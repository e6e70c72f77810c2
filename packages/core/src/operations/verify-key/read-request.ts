import { KEY_LABELS } from "../../records/key.js";
import { canonicalAddress } from "../../rules/address.js";
import { durationMs } from "../../rules/duration.js";
import { isLimitAlgorithm } from "../../rules/limit-state.js";
import { fixedFigures, isCountable } from "../../rules/rate-limit.js";
import type { SpanMs } from "../../time.js";
import {
  type LimitCost,
  type LimitRequest,
  PLAIN_QUESTION,
  type VerifyQuestion,
} from "../../verification/question.js";
import { checkPermissionQuery, QUERY_BOUNDS } from "../permission-query.js";
import {
  atOtherCosts,
  callInput,
  isReservationTtl,
  readBySchema,
  readReservationBySchema,
  requestedLimit,
  USUAL_TTL,
  VERIFY_BOUNDS,
  type VerificationRequest,
  verifyKeyInput,
} from "./input.js";

/** If the hand-written checks do not accept the input, the schema decides, and writes the error message. */
const FOR_SCHEMA = Symbol("for schema");

type WellFormed<Value> = Value | typeof FOR_SCHEMA;

const SCHEMA_FIELDS: readonly string[] = [...Object.keys(verifyKeyInput.shape), "ttl"];
/** A dry run and the deprecated `ratelimit` are rare, so they are left to the schema. */
const INPUT_FIELDS = new Set(without(SCHEMA_FIELDS, "dryRun", "ratelimit"));
const RESERVE_FIELDS = new Set([...INPUT_FIELDS, "ttl"]);
const CALL_FIELDS = new Set(without(Object.keys(callInput.shape), "key"));
const AUTHORIZATION_FIELDS = new Set(["permissions"]);
const COST_FIELDS = new Set(["cost"]);
const NAMED_COST_FIELDS = new Set(["name", "cost"]);
const LIMIT_FIELDS = new Set(Object.keys(requestedLimit));
const NO_COSTS: readonly never[] = [];

/**
 * Reads the input of verifyKey. Well-formed input is read by hand: with the schema, a warm verification in memory takes 23 % longer, and
 * one with a full question 38 %. Everything else is left to the schema. Both accept the same inputs and return the same requests.
 */
export function readVerification(input: unknown): VerificationRequest {
  return readByHand(input, readBySchema);
}

/** Reads the call of a verifier; null if the schema must check it. */
export function readCallByHand(
  secret: unknown,
  call: unknown,
  question: VerifyQuestion,
): VerificationRequest | null {
  if (typeof secret !== "string") return null;
  if (call === undefined) return requestOf(secret, question);
  if (!hasOnly(call, CALL_FIELDS)) return null;
  // Each field is read once, because a getter may return something else the next time.
  const { ipAddress, requestId, tags, cost, ratelimits } = call;
  const address = readAddress(ipAddress);
  if (address === FOR_SCHEMA || !isOptionalText(requestId) || !isTags(tags)) return null;
  const asked = address === null ? question : { ...question, address };
  if (cost === undefined && ratelimits === undefined)
    return requestOf(secret, asked, requestId, tags);
  const costs = ratelimits === undefined ? NO_COSTS : readCosts(ratelimits);
  if (!(cost === undefined || isWhole(cost, 0)) || costs === null) return null;
  const isKnown = ({ name }: LimitCost) => question.limits.some((limit) => limit.name === name);
  if (!costs.every(isKnown)) return null;
  const limits = atOtherCosts(question.limits, costs);
  return requestOf(secret, { ...asked, cost: cost ?? question.cost, limits }, requestId, tags);
}

/** Reads the units to take from limits, each name once; null if the schema must check them. */
export function readCosts(value: unknown): readonly LimitCost[] | null {
  if (!Array.isArray(value) || value.length > VERIFY_BOUNDS.limits) return null;
  const costs: LimitCost[] = [];
  for (const item of value as readonly unknown[]) {
    if (!hasOnly(item, NAMED_COST_FIELDS)) return null;
    const { name, cost } = item;
    if (!isText(name) || !isWhole(cost, 0)) return null;
    if (costs.some((other) => other.name === name)) return null;
    costs.push({ name, cost });
  }
  return costs;
}

/** Reads the input of verifyKey, each field once: a getter may change. `otherwise`: gets a copy of an input that the schema must check. */
export function readByHand<Other>(
  input: unknown,
  otherwise: (copy: unknown) => Other,
): VerificationRequest | Other {
  if (!hasOnly(input, INPUT_FIELDS)) return otherwise(copyOf(input));
  return readFields(input, undefined, otherwise);
}

/** Reads the input of reserve, like {@link readVerification} for verifyKey. */
export function readReservation(input: unknown): VerificationRequest {
  if (!hasOnly(input, RESERVE_FIELDS)) return readReservationBySchema(copyOf(input));
  const { ttl: given } = input;
  const ttl = given === undefined ? USUAL_TTL : durationMs(given);
  const read = ttl !== null && isReservationTtl(ttl) ? ttl : FOR_SCHEMA;
  return readFields(input, read, (copy) => readReservationBySchema({ ...copy, ttl: given }));
}

/** `ttl`: undefined for a verification, which has none. */
function readFields<Other>(
  input: Readonly<Record<string, unknown>>,
  ttl: WellFormed<SpanMs | undefined>,
  otherwise: (copy: object) => Other,
): VerificationRequest | Other {
  const { key, apiId, ipAddress, tags, authorization, remaining, ratelimits, requestId } = input;
  const { environment } = input;
  if (
    ttl !== FOR_SCHEMA &&
    typeof key === "string" &&
    isOptionalText(apiId) &&
    isOptionalText(requestId) &&
    isEnvironment(environment) &&
    isTags(tags)
  ) {
    const address = readAddress(ipAddress);
    const permissions = readPermissions(authorization);
    const cost = readCost(remaining);
    const limits = readLimits(ratelimits);
    if (
      address !== FOR_SCHEMA &&
      permissions !== FOR_SCHEMA &&
      cost !== FOR_SCHEMA &&
      limits !== FOR_SCHEMA
    ) {
      const question = { apiId: apiId ?? null, address, permissions, cost, limits };
      const timed = ttl === undefined ? question : { ...question, ttl };
      const asked = environment === undefined ? timed : { ...timed, environment };
      return requestOf(key, asked, requestId, tags);
    }
  }
  const read = { key, apiId, environment, ipAddress, tags, authorization, remaining, ratelimits };
  return otherwise(copyOf({ ...read, requestId }) as object);
}

function without(names: readonly string[], ...left: readonly string[]): readonly string[] {
  return names.filter((name) => !left.includes(name));
}

/** How deep an input is copied: down to the limits in its list. */
const COPY_DEPTH = 3;

/** A deep copy of an object, including values of getters of its class, each read once, and without additions to `Object.prototype`. */
function copyOf(value: unknown, depth = COPY_DEPTH): unknown {
  if (typeof value !== "object" || value === null || depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => copyOf(item, depth - 1));
  const fields = value as Readonly<Record<string, unknown>>;
  // Without a prototype, so that a field of any name is copied as a field.
  const copy: Record<string, unknown> = Object.create(null);
  const add = (name: string): void => {
    const isOwn = Object.hasOwn(fields, name) || !Object.hasOwn(Object.prototype, name);
    if (isOwn && !(name in copy) && name in fields) copy[name] = copyOf(fields[name], depth - 1);
  };
  for (const name in fields) add(name);
  for (const name of SCHEMA_FIELDS) add(name);
  return copy;
}

function requestOf(
  secret: string,
  question: VerifyQuestion,
  requestId?: string,
  tags?: readonly string[],
): VerificationRequest {
  return { secret, question, requestId, tags: tags && [...tags], isDryRun: false };
}

function readAddress(value: unknown): WellFormed<string | null> {
  if (value === undefined) return null;
  return (typeof value === "string" ? canonicalAddress(value) : null) ?? FOR_SCHEMA;
}

function readPermissions(authorization: unknown): WellFormed<VerifyQuestion["permissions"]> {
  if (authorization === undefined) return null;
  if (!hasOnly(authorization, AUTHORIZATION_FIELDS)) return FOR_SCHEMA;
  const { permissions } = authorization;
  if (typeof permissions === "string" && permissions.length >= 1) {
    if (permissions.length <= QUERY_BOUNDS.maxNameLength) return permissions;
  }
  const check = checkPermissionQuery(permissions);
  return check.ok ? check.query : FOR_SCHEMA;
}

function readCost(value: unknown): WellFormed<number> {
  if (value === undefined) return PLAIN_QUESTION.cost;
  if (!hasOnly(value, COST_FIELDS)) return FOR_SCHEMA;
  const { cost } = value;
  if (cost === undefined) return 1;
  return isWhole(cost, 0) ? cost : FOR_SCHEMA;
}

function readLimits(value: unknown): WellFormed<readonly LimitRequest[]> {
  if (value === undefined) return PLAIN_QUESTION.limits;
  if (!Array.isArray(value) || value.length > VERIFY_BOUNDS.limits) return FOR_SCHEMA;
  const limits: LimitRequest[] = [];
  for (const item of value as readonly unknown[]) {
    const limit = readLimit(item);
    if (limit === FOR_SCHEMA || limits.some(({ name }) => name === limit.name)) return FOR_SCHEMA;
    limits.push(limit);
  }
  return limits;
}

function readLimit(value: unknown): WellFormed<LimitRequest> {
  if (!hasOnly(value, LIMIT_FIELDS)) return FOR_SCHEMA;
  const { name, cost = 1, limit, duration, algorithm, burst, shadow } = value;
  if (!isText(name) || !isWhole(cost, 0)) return FOR_SCHEMA;
  const adHoc = readFigures(limit, duration, algorithm, burst, shadow);
  return adHoc === FOR_SCHEMA ? FOR_SCHEMA : { name, cost, adHoc, isOptional: false };
}

/** The figures of an ad-hoc limit; null if the request names a configured one. */
function readFigures(
  limit: unknown,
  duration: unknown,
  algorithm: unknown,
  burst: unknown,
  shadow: unknown,
): WellFormed<LimitRequest["adHoc"]> {
  const isPlain = algorithm === undefined && burst === undefined && shadow === undefined;
  if (limit === undefined && duration === undefined && isPlain) return null;
  const windowMs = durationMs(duration);
  if (!isWhole(limit, 1) || windowMs === null) return FOR_SCHEMA;
  if (isPlain) return fixedFigures(limit, windowMs);
  if (!(algorithm === undefined || isLimitAlgorithm(algorithm))) return FOR_SCHEMA;
  if (!(shadow === undefined || typeof shadow === "boolean")) return FOR_SCHEMA;
  if (algorithm === "concurrent" && shadow === true) return FOR_SCHEMA;
  if (!(burst === undefined || (algorithm === "token-bucket" && isWhole(burst, 1))))
    return FOR_SCHEMA;
  const figures = {
    algorithm: algorithm ?? "fixed",
    limit,
    duration: windowMs,
    burst: burst ?? limit,
    shadow: shadow ?? false,
  };
  return isCountable(figures) ? figures : FOR_SCHEMA;
}

/** Whether a value is an object with no enumerable fields other than these, all of them its own. */
export function hasOnly(
  value: unknown,
  fields: ReadonlySet<string>,
): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  // Fields added to `Object.prototype` are enumerated too, but were not meant for this object.
  for (const name in value) if (!fields.has(name) || !Object.hasOwn(value, name)) return false;
  return true;
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || isText(value);
}

function isTags(value: unknown): value is readonly string[] | undefined {
  if (value === undefined) return true;
  if (!Array.isArray(value) || value.length > VERIFY_BOUNDS.tags) return false;
  // `every` skips holes, `includes` finds them.
  const tags: readonly unknown[] = value;
  return !tags.includes(undefined) && tags.every(isText);
}

export function isText(value: unknown): value is string {
  return isTextWithin(value, 1, VERIFY_BOUNDS.text);
}

function isEnvironment(value: unknown): value is string | undefined {
  return value === undefined || isTextWithin(value, ...KEY_LABELS.environment.length);
}

function isTextWithin(value: unknown, min: number, max: number): value is string {
  return (
    typeof value === "string" &&
    value.length >= min &&
    value.length <= max &&
    value.isWellFormed() &&
    !value.includes("\0")
  );
}

export function isWhole(value: unknown, min: number): value is number {
  // The schema turns -0 into 0.
  return Number.isSafeInteger(value) && (value as number) >= min && !Object.is(value, -0);
}
