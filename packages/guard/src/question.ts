import {
  type DefaultTypes,
  type Duration,
  type Latchkey,
  LatchkeyError,
  type LatchkeyTypes,
  type LimitAlgorithm,
  type LimitName,
  type VerifierInput,
  type VerifyOutcome,
} from "@latchkey/core";
import { type Cost, fixedCost, readCost } from "./cost.js";
import type { Turn } from "./deadline.js";
import { type GuardSettings, ownFieldsWithin } from "./options.js";
import { type OnClose, type Reserve, readReserve } from "./reservation.js";

/** The part of a latchkey that a guard uses. */
export type GuardLatchkey<Types extends LatchkeyTypes = DefaultTypes> = Pick<
  Latchkey<Types>,
  "verifier" | "settle" | "release" | "renew" | "now" | "~types"
>;

/** A rate limit that a route takes units from. */
export interface GuardLimit<Request, Types extends LatchkeyTypes = DefaultTypes> {
  /** Name of the limit. */
  readonly name: LimitName<Types>;
  /** Units to take. Default: 1. */
  readonly cost?: Cost<Request>;
  /**
   * Units per `duration` for a key if neither it nor its identity has a limit of this name: a whole number >= 1, with `duration`. Without
   * both, `unknownLimit` says what happens to such a key.
   */
  readonly limit?: number;
  /** Length of a window: whole ms >= 1, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`; with `limit`. */
  readonly duration?: Duration;
  /** `"fixed"` (default), `"sliding"` or `"token-bucket"`; with `limit`. */
  readonly algorithm?: LimitAlgorithm;
  /** Units that a token bucket holds: a whole number >= 1; with `algorithm: "token-bucket"`. Default: `limit`. */
  readonly burst?: number;
  /** Whether the limit only counts, and never refuses; with `limit`. Default: false. */
  readonly shadow?: boolean;
}

/**
 * What a route requires of a key, besides being valid. `permissions`, `apiId`, `environment` and `ratelimits` throw if present but
 * undefined.
 */
export interface GuardQuestion<Request, Types extends LatchkeyTypes = DefaultTypes> {
  /** Permissions that the key must have: a name, or `{ and: [...] }` or `{ or: [...] }` of queries. */
  readonly permissions?: VerifierInput<Types>["permissions"];
  /** The API that the key must belong to. */
  readonly apiId?: string;
  /** The environment that the key must have, such as `"live"`. */
  readonly environment?: string;
  /** Uses to take. Default: 1. */
  readonly cost?: Cost<Request>;
  /**
   * Uses to hold, instead of taking `cost`, until the handler calls `apiKey.settle({ cost })` or `apiKey.release()`. Units of limits are
   * held with them.
   */
  readonly reserve?: Reserve<Request>;
  /** What the end of the response does with a reservation that the handler neither settled nor released. Default: `"settle"`, all of it. */
  readonly onClose?: OnClose;
  /** Limits to take from, besides those that always apply: at most 50. */
  readonly ratelimits?: readonly GuardLimit<Request, Types>[];
  /** Whether a request without a key passes, without a verdict. A request with a refused key never passes. Default: false. */
  readonly optional?: boolean;
}

/** A question that reserves: its verdict has `settle` and `release`. */
export type ReservingQuestion<Request, Types extends LatchkeyTypes = DefaultTypes> = GuardQuestion<
  Request,
  Types
> & { readonly reserve: Reserve<Request> };

/** Added to a question that requires a key: its verdict is never null. */
export interface NotOptional {
  readonly optional?: false;
}

/** Verifies a key with the question of a route. Null if the request timed out before anything was taken. */
export type Ask<Request> = (
  key: string,
  ipAddress: string | null,
  request: Request,
  turn: Turn,
) => Promise<VerifyOutcome | null>;

/** A question that was read and checked. */
export interface AskedQuestion<Request> {
  readonly ask: Ask<Request>;
  readonly isOptional: boolean;
  /** What happens to a reservation at the end of the response; null if nothing is reserved. */
  readonly onClose: OnClose | null;
  /** Names of its limits, in its order. */
  readonly limitNames: readonly string[];
}

const QUESTION_FIELDS: ReadonlySet<string> = new Set([
  "permissions",
  "apiId",
  "environment",
  "cost",
  "reserve",
  "onClose",
  "ratelimits",
  "optional",
] satisfies (keyof GuardQuestion<unknown>)[]);
const NARROWING_FIELDS: readonly string[] = [
  "apiId",
  "environment",
  "permissions",
  "ratelimits",
  "reserve",
];
const LIMIT_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "cost",
  "limit",
  "duration",
  "algorithm",
  "burst",
  "shadow",
] satisfies (keyof GuardLimit<unknown>)[]);

/** Whether a framework called `guard` itself, as if it were a middleware: with a request, or with a context that has one. */
function isOfRequest(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ["headers", "req", "request", "ctx"].some((name) => name in value);
}

/**
 * Reads the question of a route once, and creates its verifier.
 *
 * @throws TypeError, or LatchkeyError `BAD_REQUEST`, naming what is wrong with the question.
 */
export function readQuestion<Request>(
  latchkey: GuardLatchkey,
  question: GuardQuestion<Request>,
  { unknownLimit }: Pick<GuardSettings<Request>, "unknownLimit">,
): AskedQuestion<Request> {
  if (isOfRequest(question))
    throw new TypeError(
      "a request was passed as the options of a route: use guard() or guard({ … }) there, not guard itself",
    );
  const own = ownFieldsWithin(
    question,
    QUESTION_FIELDS,
    "an option of a guarded route",
    "",
    NARROWING_FIELDS,
  );
  const { optional, reserve, onClose, ratelimits, ...asked } = own as GuardQuestion<Request>;
  const reserved = readReserve({ reserve, onClose, cost: asked.cost });
  const { cost = 1 } = reserved ?? asked;
  if (optional !== undefined && typeof optional !== "boolean")
    throw new TypeError('"optional" must be true or false');
  const limits = ratelimits === undefined ? [] : readLimits<Request>(ratelimits);
  const verify = latchkey.verifier({
    ...asked,
    cost: fixedCost(cost),
    ...(reserved !== null && { ttl: reserved.ttl }),
    ratelimits: limits.map((limit) => ({
      ...limit,
      cost: fixedCost(limit.cost),
      fallback: "limit" in limit || "duration" in limit || unknownLimit === "skip",
    })),
  });
  const isOptional = optional === true;
  const names = limits.map(({ name }) => name);
  const read = { isOptional, onClose: reserved?.onClose ?? null, limitNames: names };
  const costs = [cost, ...limits.map((limit) => limit.cost ?? 1)];
  if (!costs.some((one) => typeof one === "function"))
    return {
      ...read,
      ask: (key, ipAddress) => verify(key, ipAddress === null ? undefined : { ipAddress }),
    };
  const ask: Ask<Request> = async (key, address, request, turn) => {
    // Each in an async function: if one throws synchronously, the rejection of another must not stay unhandled.
    const [uses, ...units] = await Promise.all(
      costs.map(async (one) => (typeof one === "function" ? one(request) : one)),
    );
    if (turn.isOver) return null;
    return verify(key, {
      ipAddress: address ?? undefined,
      cost: readCost(uses, reserved === null ? "cost" : "reserve"),
      ratelimits: names.map((name, index) => ({
        name,
        cost: readCost(units[index], `ratelimits.${index}.cost`),
      })),
    });
  };
  return { ...read, ask };
}

function readLimits<Request>(value: unknown): readonly GuardLimit<Request>[] {
  if (!Array.isArray(value))
    throw new TypeError('"ratelimits" must be a list of limits, such as [{ name: "tiles" }]');
  return value.map(
    (limit: unknown, index) =>
      ownFieldsWithin(limit, LIMIT_FIELDS, "a field of a limit", `ratelimits.${index}`, [
        "limit",
        "duration",
      ]) as unknown as GuardLimit<Request>,
  );
}

/**
 * Adds the name of the limit to an error about a limit that the key does not have. Core repeats no names from a request, but here the
 * program states the name.
 */
export function withLimitName(error: unknown, names: readonly string[]): unknown {
  if (!(error instanceof LatchkeyError) || error.reason !== "unknown-limit") return error;
  const { code, message, issues, details, reason } = error;
  const [, index = ""] = /^ratelimits\.(\d{1,9})\./.exec(issues[0]?.path ?? "") ?? [];
  const name = names[Number(index)];
  if (name === undefined) return error;
  return new LatchkeyError(code, message, { issues, reason, details: { ...details, name } });
}
