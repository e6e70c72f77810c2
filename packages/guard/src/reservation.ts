import type {
  DefaultTypes,
  Duration,
  LatchkeyTypes,
  SettledReservation,
  SettleInput,
} from "@latchkey/core";
import type { Cost } from "./cost.js";
import { ownFieldsWithin } from "./options.js";
import type { ApiKey } from "./refusal.js";

/** Uses that a route holds until its work is done, and for how long. */
export type Reserve<Request> =
  | Cost<Request>
  | {
      /** Uses to hold. Default: 1. */
      readonly cost?: Cost<Request>;
      /**
       * How long: whole ms from 1,000 to 86,400,000, or a text such as `"30s"` or `"1h"`. It is renewed while the response is open, so this
       * is how long it outlives a killed process. Default: `"5m"`.
       */
      readonly ttl?: Duration;
    };

/** What the end of the response does with a reservation that the handler neither settled nor released. */
export type OnClose = "settle" | "release";

/** What the work of a route cost. For anything that you leave out, all that was reserved is charged. */
export type Settlement<Types extends LatchkeyTypes = DefaultTypes> = Omit<
  SettleInput<Types>,
  "reservationId"
> & {
  /** Uses: the same as `remaining: { cost }`. */
  readonly cost?: number | undefined;
};

/** The reservation of a route, for its handler. No method throws or rejects: errors go to `onError`. */
export interface Reservation<Types extends LatchkeyTypes = DefaultTypes> {
  /** `rsv_…` */
  readonly reservationId: string;
  /** Unix epoch ms at which it expires, unless renewed. It is renewed while the response is open. */
  readonly expiresAt: number;
  /**
   * Charges what the work cost, and returns the rest. Call it before the response ends, or at its end.
   *
   * @returns What was taken; null if that failed or is not known yet: it is tried again until the reservation expires.
   * @example
   * await apiKey.settle({ cost: tokens });
   */
  settle(used?: Settlement<Types>): Promise<SettledReservation | null>;
  /** Returns all of it, without a charge. The result is that of settle. */
  release(): Promise<SettledReservation | null>;
}

/** The verdict on a valid key, together with the reservation of the route. */
export type ReservedKey<Types extends LatchkeyTypes = DefaultTypes> = ApiKey<Types> &
  Reservation<Types>;

/** How a question reserves. */
export interface ReadReserve<Request> {
  readonly cost: Cost<Request>;
  readonly ttl: Duration;
  readonly onClose: OnClose;
}

const DEFAULT_TTL: Duration = "5m";
const RESERVE_FIELDS: ReadonlySet<string> = new Set(["cost", "ttl"]);

/**
 * Reads how a question reserves; null if it does not.
 *
 * @throws TypeError naming the wrong field.
 */
export function readReserve<Request>({
  reserve,
  onClose = "settle",
  cost: otherCost,
}: {
  readonly reserve: Reserve<Request> | undefined;
  readonly onClose: OnClose | undefined;
  /** The `cost` of the question, which `reserve` excludes. */
  readonly cost: unknown;
}): ReadReserve<Request> | null {
  if (onClose !== "settle" && onClose !== "release")
    throw new TypeError('"onClose" must be "settle" or "release"');
  if (reserve === undefined) {
    if (onClose === "settle") return null;
    throw new TypeError('"onClose" is only allowed with "reserve"');
  }
  if (otherCost !== undefined)
    throw new TypeError('"cost" must not be given with "reserve", which sets what is held');
  const isBare = typeof reserve === "number" || typeof reserve === "function";
  if (!isBare && typeof reserve !== "object")
    throw new TypeError('"reserve" must be a number of uses, a function or an object');
  const { cost = 1, ttl = DEFAULT_TTL } = isBare
    ? { cost: reserve }
    : (ownFieldsWithin(reserve, RESERVE_FIELDS, "a field of it", "reserve", ["ttl"]) as {
        readonly cost?: Cost<Request>;
        readonly ttl?: Duration;
      });
  if (typeof cost === "number" && !(Number.isSafeInteger(cost) && cost >= 0))
    throw new TypeError(`"${isBare ? "reserve" : "reserve.cost"}" must be a whole number >= 0`);
  return { cost, ttl, onClose };
}
