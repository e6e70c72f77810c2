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

/** What a route holds of a key until its work is done: uses, and for how long. */
export type Reserve<Request> =
  | Cost<Request>
  | {
      /** Uses to hold: 1 unless given. */
      readonly cost?: Cost<Request>;
      /**
       * For how long, without news of this process: whole ms from 1,000 to 86,400,000, or a text such as `"30s"` or `"1h"`; `"5m"` unless given.
       * It is renewed while the response is open, so this is how long a process that is killed keeps it.
       */
      readonly ttl?: Duration;
    };

/** What becomes of a reservation whose handler says nothing of it, at the end of the response. */
export type OnClose = "settle" | "release";

/** What the work of a route cost. What is left out cost all that was reserved. */
export type Settlement<Types extends LatchkeyTypes = DefaultTypes> = Omit<
  SettleInput<Types>,
  "reservationId"
> & {
  /** Uses: the same as `remaining: { cost }`. */
  readonly cost?: number | undefined;
};

/** What a handler does with what its route reserved. Neither method throws or rejects: what goes wrong is told to `onError`. */
export interface Reservation<Types extends LatchkeyTypes = DefaultTypes> {
  /** `rsv_…` */
  readonly reservationId: string;
  /** Unix epoch ms until which it was held at first. It is renewed while the response is open. */
  readonly expiresAt: number;
  /**
   * Says what the work cost: that is taken for good, and the rest goes back. Call it before the response ends, or at its end.
   *
   * @returns What was taken; null where that went wrong or is not known yet: the store is asked again until the reservation expires.
   * @example
   * await apiKey.settle({ cost: tokens });
   */
  settle(used?: Settlement<Types>): Promise<SettledReservation | null>;
  /** Gives all of it back: the work came to nothing. Answers as settle. */
  release(): Promise<SettledReservation | null>;
}

/** The verdict on a key of which a route has reserved something. */
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
 * Reads how a question reserves; null where it does not.
 *
 * @throws TypeError naming the field that is wrong.
 */
export function readReserve<Request>({
  reserve,
  onClose = "settle",
  cost: otherCost,
}: {
  readonly reserve: Reserve<Request> | undefined;
  readonly onClose: OnClose | undefined;
  /** What the question says beside it. */
  readonly cost: unknown;
}): ReadReserve<Request> | null {
  if (onClose !== "settle" && onClose !== "release")
    throw new TypeError('"onClose" must be "settle" or "release"');
  if (reserve === undefined) {
    if (onClose === "settle") return null;
    throw new TypeError('"onClose" must only be given with "reserve"');
  }
  if (otherCost !== undefined)
    throw new TypeError('"cost" must not be given with "reserve", which says what is held');
  const { cost = 1, ttl = DEFAULT_TTL } =
    typeof reserve === "number" || typeof reserve === "function"
      ? { cost: reserve }
      : (ownFieldsWithin(reserve, RESERVE_FIELDS, "a field of it", "reserve", ["ttl"]) as {
          readonly cost?: Cost<Request>;
          readonly ttl?: Duration;
        });
  return { cost, ttl, onClose };
}
