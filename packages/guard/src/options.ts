import {
  DURATION_ERROR,
  type Duration,
  durationMs,
  isWhole,
  meantHint,
  ownFieldsOf,
  type SpanMs,
} from "@latchkey/core";
import { MAX_TIMER_MS } from "./background-timer.js";
import type { Refusal } from "./refusal.js";
import type { BodyForm } from "./refusal-body.js";

/** What `onRefusal` may return. Only own fields count; anything that it leaves out stays unchanged. */
export type ChangedRefusal = Partial<Pick<Refusal, "status" | "headers" | "body">>;

/** How many requests of one address may end in 401. */
export interface AddressLimit {
  /** In each window: a whole number >= 1. */
  readonly limit: number;
  /** Length of a window: whole ms >= 1, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`. Windows are aligned to the Unix epoch. */
  readonly duration: Duration;
}

/** Options of a guard, for all its routes. */
export interface GuardOptions<Request> {
  /**
   * Returns the key, instead of reading `Authorization` and `X-API-Key`. Null and undefined mean no key. Anything except a text of 1 to 512
   * characters without control characters is refused with 401.
   */
  readonly getKey?: (
    request: Request,
  ) => string | null | undefined | Promise<string | null | undefined>;
  /**
   * The number of trusted proxies in front of this server: a whole number >= 0. Default: 0. The client's address is the one that the
   * outermost of them wrote into `X-Forwarded-For`; with 0, that of the socket.
   */
  readonly trustProxy?: number;
  /**
   * Returns the client's IP address, for runtimes that do not provide it by the socket or `X-Forwarded-For`. An invalid address counts as
   * unknown.
   */
  readonly getAddress?: (
    request: Request,
  ) => string | null | undefined | Promise<string | null | undefined>;
  /**
   * Counts the requests of each address that end in 401. An address that has reached the limit gets 429 with `Retry-After`, before its key
   * is looked up, which slows down guessing. Valid keys are admitted as long as there is room. Default: nothing is counted.
   *
   * Counts in this process, for the 10,000 latest addresses. An IPv6 /64 network counts as one address. A request with an unknown address
   * is not counted.
   */
  readonly limitByAddress?: AddressLimit;
  /**
   * How long the decision may take, including the store and your own functions: whole ms from 1 to 2147483647, or a text such as `"5s"`.
   * Default: 10,000. After that, the response is 503.
   */
  readonly timeoutMs?: Duration;
  /**
   * What happens if a key lacks a limit that the route names without numbers: `"error"` (default), a 500 that is passed to `onError`;
   * `"skip"` ignores that limit.
   */
  readonly unknownLimit?: "error" | "skip";
  /** Form of the bodies of refusals. Default: problem details. */
  readonly problem?: BodyForm;
  /**
   * May change the status, headers and body of a refusal; anything that it leaves out stays. It cannot admit a request. If it throws or
   * returns something invalid, the response is a 500.
   */
  readonly onRefusal?: (
    refusal: Refusal,
    request: Request,
    // biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks answers nothing
  ) => ChangedRefusal | undefined | void | Promise<ChangedRefusal | undefined | void>;
  /** Status for a key without enough uses left. Default: 429. */
  readonly usedUpStatus?: 429 | 402;
  /**
   * Called with every error behind a 500 or a 503: a mistake in your server, a damaged record, a store that is down; on `node:http` also
   * errors that a handler throws. Default: `console.error`; on Fastify, the request's log. The guard does not wait for it.
   */
  readonly onError?: (error: unknown, request: Request) => unknown;
}

/** Checked options: with every default filled in, and durations in ms. */
export interface GuardSettings<Request> {
  readonly getKey: GuardOptions<Request>["getKey"] | null;
  readonly trustProxy: number;
  readonly getAddress: GuardOptions<Request>["getAddress"] | null;
  readonly limitByAddress: { readonly limit: number; readonly duration: SpanMs } | null;
  readonly timeoutMs: SpanMs;
  readonly unknownLimit: "error" | "skip";
  readonly problem: BodyForm;
  readonly onRefusal: GuardOptions<Request>["onRefusal"] | null;
  readonly usedUpStatus: 429 | 402;
  readonly onError: NonNullable<GuardOptions<Request>["onError"]>;
}

/** Any other option is refused, so that a misspelt one is not ignored. */
const KNOWN_OPTIONS: ReadonlySet<string> = new Set([
  "getKey",
  "trustProxy",
  "getAddress",
  "limitByAddress",
  "timeoutMs",
  "unknownLimit",
  "problem",
  "onRefusal",
  "usedUpStatus",
  "onError",
] satisfies (keyof GuardOptions<unknown>)[]);
const ADDRESS_LIMIT_FIELDS: ReadonlySet<string> = new Set(["limit", "duration"]);

/** Default of `onError`. */
const printError = (error: unknown): void => console.error(error);

/**
 * Reads the options of a guard, each once.
 *
 * @param defaults - The entry's own default for `onError`.
 * @throws TypeError naming the wrong option and its bound.
 */
export function readOptions<Request>(
  options: GuardOptions<Request>,
  { onError = printError }: Pick<GuardOptions<Request>, "onError"> = {},
): GuardSettings<Request> {
  const own = ownFieldsWithin(options, KNOWN_OPTIONS, "an option of createGuard");
  const {
    trustProxy = 0,
    problem = "problem+json",
    usedUpStatus = 429,
    unknownLimit = "error",
  } = own;
  if (!isWhole(trustProxy))
    throw new TypeError('"trustProxy" must be a whole number >= 0: how many proxies are trusted');
  if (problem !== "problem+json" && problem !== "contract")
    throw new TypeError('"problem" must be "problem+json" or "contract"');
  if (usedUpStatus !== 429 && usedUpStatus !== 402)
    throw new TypeError('"usedUpStatus" must be 429 or 402');
  if (unknownLimit !== "error" && unknownLimit !== "skip")
    throw new TypeError('"unknownLimit" must be "error" or "skip"');
  return {
    getKey: readHook(own, "getKey") ?? null,
    trustProxy,
    getAddress: readHook(own, "getAddress") ?? null,
    limitByAddress: readAddressLimit(own.limitByAddress),
    timeoutMs: readTimeout(own.timeoutMs),
    unknownLimit,
    problem,
    onRefusal: readHook(own, "onRefusal") ?? null,
    usedUpStatus,
    onError: readHook(own, "onError") ?? onError,
  } as GuardSettings<Request>;
}

function readHook(options: Readonly<Record<string, unknown>>, name: string): unknown {
  const hook = options[name];
  if (hook !== undefined && typeof hook !== "function")
    throw new TypeError(`"${name}" must be a function`);
  return hook;
}

function readTimeout(value: unknown = 10_000): SpanMs {
  const timeoutMs = durationMs(value);
  if (timeoutMs === null || timeoutMs > MAX_TIMER_MS)
    throw new TypeError(
      `"timeoutMs" must be a whole number of ms from 1 to ${MAX_TIMER_MS}, or a text such as "5s"`,
    );
  return timeoutMs;
}

function readAddressLimit(value: unknown): GuardSettings<never>["limitByAddress"] {
  if (value === undefined) return null;
  const own = ownFieldsWithin(value, ADDRESS_LIMIT_FIELDS, "a field of it", "limitByAddress");
  const { limit } = own;
  const duration = durationMs(own.duration);
  if (!isWhole(limit) || limit === 0)
    throw new TypeError('"limitByAddress.limit" must be a whole number >= 1');
  if (duration === null) throw new TypeError(`"limitByAddress.duration" ${DURATION_ERROR}`);
  return { limit, duration };
}

/**
 * The own fields of an object that may have no others than those in `known`.
 *
 * @param what - Describes a known field, for messages: `"x" is not an option of createGuard`.
 * @param name - Path of the object, for messages; an empty text for the input itself.
 * @param stated - Fields that must not be undefined.
 * @throws TypeError naming the field.
 */
export function ownFieldsWithin(
  value: unknown,
  known: ReadonlySet<string>,
  what: string,
  name = "",
  stated: readonly string[] = [],
): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(
      name === ""
        ? `an object is required: each of its fields is ${what}`
        : `"${name}" must be an object`,
    );
  const path = name === "" ? "" : `${name}.`;
  const own = ownFieldsOf(value, { known, stated, path });
  const unknown = Object.keys(own).find((field) => !known.has(field));
  if (unknown !== undefined)
    throw new TypeError(`"${path}${unknown}" is not ${what}${meantHint(unknown, known)}`);
  return own;
}
