import type { Refusal } from "./refusal.js";
import type { BodyForm } from "./refusal-body.js";

/** What `onRefusal` may answer: whatever it leaves out stays as it is. */
export type ChangedRefusal = Partial<Pick<Refusal, "status" | "headers" | "body">>;

/** Options of a guard, for all routes that it guards. */
export interface GuardOptions<Request> {
  /**
   * Finds the key in place of `Authorization` and `X-API-Key`, which are not looked at then. Null and undefined are no key; anything
   * that is no text of 1 to 512 characters without control characters is refused with 401.
   */
  readonly getKey?: (
    request: Request,
  ) => string | null | undefined | Promise<string | null | undefined>;
  /**
   * How many trusted proxies stand in front of this server: a whole number >= 0, 0 unless given. The address is the one that the
   * outermost of them was called from, in `X-Forwarded-For`; 0 takes that of the socket.
   */
  readonly trustProxy?: number;
  /**
   * Finds the address in place of socket and `X-Forwarded-For`, on runtimes that know it otherwise. What is no address counts
   * as unknown.
   */
  readonly getAddress?: (request: Request) => string | null | undefined;
  /** Form of the bodies of refusals: problem details unless given. */
  readonly problem?: BodyForm;
  /**
   * May change status, headers and body of a refusal; what it leaves out stays. It cannot admit. What it throws, or an answer that is
   * none, becomes a 500.
   */
  readonly onRefusal?: (
    refusal: Refusal,
    request: Request,
    // biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks answers nothing
  ) => ChangedRefusal | undefined | void | Promise<ChangedRefusal | undefined | void>;
  /** Status of a key without enough uses left: 429 unless given. */
  readonly usedUpStatus?: 429 | 402;
  /**
   * Is called with every error behind a 500 or a 503: a mistake of the host's, a damaged record, a store that is down; on `node:http`
   * also what a handler throws. `console.error` unless given; on Fastify the log of the request.
   */
  readonly onError?: (error: unknown, request: Request) => unknown;
}

/** A misspelt option must not be passed over. */
const KNOWN_OPTIONS: ReadonlySet<string> = new Set([
  "getKey",
  "trustProxy",
  "getAddress",
  "problem",
  "onRefusal",
  "usedUpStatus",
  "onError",
] satisfies (keyof GuardOptions<unknown>)[]);

/**
 * Checks the options of a guard.
 *
 * @throws TypeError naming the option that is wrong and its bound.
 */
export function checkOptions(options: GuardOptions<never>): void {
  refuseUnknown(options, KNOWN_OPTIONS, "an option of createGuard");
  const { trustProxy = 0, problem = "problem+json", usedUpStatus = 429 } = options;
  if (!Number.isSafeInteger(trustProxy) || trustProxy < 0)
    throw new TypeError('"trustProxy" must be a whole number >= 0: how many proxies are trusted');
  if (problem !== "problem+json" && problem !== "contract")
    throw new TypeError('"problem" must be "problem+json" or "contract"');
  if (usedUpStatus !== 429 && usedUpStatus !== 402)
    throw new TypeError('"usedUpStatus" must be 429 or 402');
  for (const name of ["getKey", "getAddress", "onRefusal", "onError"] as const)
    if (options[name] !== undefined && typeof options[name] !== "function")
      throw new TypeError(`"${name}" must be a function`);
}

/**
 * Refuses an object with a field that has no meaning.
 *
 * @param what - What the field is not.
 * @throws TypeError naming the field.
 */
export function refuseUnknown(value: unknown, known: ReadonlySet<string>, what: string): void {
  if (typeof value !== "object" || value === null)
    throw new TypeError(`an object is needed where ${what} may stand`);
  const unknown = Object.keys(value).find((name) => !known.has(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not ${what}`);
}
