import type { Duration } from "../../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes, LimitName } from "../../rules/latchkey-types.js";
import type { EpochMs } from "../../time.js";
import type { LimitCost } from "../../verification/question.js";
import type { ValidVerdict, VerifyOutcome } from "../../verification/verdict.js";
import type { PageInput } from "../input.js";
import type { PageInfo } from "../read.js";
import type { VerifyKeyInput } from "../verify-key/input.js";
import type { VerifyScope } from "../verify-key/operations.js";

/** Input of reserve: the input of a verification, and how long to hold what it takes. */
export type ReserveInput<Types extends LatchkeyTypes = DefaultTypes> = Omit<
  VerifyKeyInput<Types>,
  "dryRun"
> & {
  /** How long it is held unless renewed: whole ms from 1,000 to 86,400,000, or a text such as `"30s"` or `"1h"`. Default: `"5m"`. */
  readonly ttl?: Duration | undefined;
};

/** The verdict of a reservation: switch on `code`. */
export type ReserveOutcome<Types extends LatchkeyTypes = DefaultTypes> =
  | (ValidVerdict<Types> & {
      /** `rsv_…`, for settle, release and renew. */
      readonly reservationId: string;
      /** Unix epoch ms at which it expires unless renewed. */
      readonly expiresAt: EpochMs;
    })
  | Exclude<VerifyOutcome<Types>, ValidVerdict<Types>>;

/** Uses that the work took. */
export interface UsedUses {
  /** A whole number >= 0, at most what is reserved. */
  readonly cost: number;
}

/** A reservation. */
export type ReservationReference = {
  /** `rsv_…` */
  readonly reservationId: string;
};

/** What the work of a reservation cost. For anything that you leave out, all that was reserved is charged. */
export interface SettleInput<Types extends LatchkeyTypes = DefaultTypes>
  extends ReservationReference {
  /** Uses that the work took. */
  readonly remaining?: UsedUses | undefined;
  /** Units that it took from limits: at most 50, each name once. Slots of concurrent limits are always freed. */
  readonly ratelimits?: readonly LimitCost<LimitName<Types>>[] | undefined;
}

/** How a reservation was charged. */
export interface SettledReservation {
  /** Uses left afterwards, including a due refill; null for unlimited. */
  readonly remaining: number | null;
  /** What was charged. */
  readonly taken: {
    /** Whole and >= 0, also if uses are unlimited. */
    readonly uses: number;
    /** Every limit that was reserved at a cost above 0, except concurrent ones, in the order of the verdict. */
    readonly ratelimits: readonly LimitCost[];
  };
}

/** An open reservation. */
export interface ReservationView extends ReservationReference {
  /** The key that made it. */
  readonly keyId: string;
  /** Unix epoch ms. */
  readonly createdAt: EpochMs;
  /** Unix epoch ms at which it expires. */
  readonly expiresAt: EpochMs;
  /** Uses that are held. */
  readonly uses: number;
  /** Units and slots of limits that are held. */
  readonly ratelimits: readonly LimitCost[];
}

/** A page of open reservations. */
export interface ReservationList extends Pick<PageInfo, "cursor"> {
  /** In the order of their creation. */
  readonly reservations: readonly ReservationView[];
}

/** A reservation that was renewed. */
export interface RenewedReservation {
  /** Unix epoch ms at which it expires. */
  readonly expiresAt: EpochMs;
}

/** Operations on reservations: uses and units that are held until the cost is known. */
export interface ReservationOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Verifies like verifyKey, and holds the cost until you call settle with the actual cost, or release. A reservation that has not ended by
   * `expiresAt` counts as released from then on, so nothing is lost if a process crashes.
   *
   * @throws LatchkeyError like verifyKey; `PRECONDITION_FAILED`, reason `too-many-reservations`, if 1,000 reservations of the key are open,
   * or 10,000 of all keys of its identity; nothing is taken then.
   * @example
   * const verdict = await latchkey.reserve({ key, remaining: { cost: 4_000 } });
   * if (verdict.code === "VALID") await latchkey.settle({ reservationId: verdict.reservationId, remaining: { cost: 812 } });
   */
  reserve(input: ReserveInput<Types>, scope?: VerifyScope): Promise<ReserveOutcome<Types>>;
  /**
   * Ends a reservation: charges the actual cost and returns the rest to where it came from, as if you had reserved only that much. For an
   * hour, a repeat with the same costs returns the same.
   *
   * @throws LatchkeyError `NOT_FOUND`, also if its key was deleted; `PRECONDITION_FAILED`, reason `over-reservation` if the work cost more
   * than was reserved, or `reservation-expired`; `CONFLICT`, reason `reservation-ended`, for other costs than before; `BAD_REQUEST` for a
   * limit of which the reservation holds nothing.
   * @example
   * const { remaining } = await latchkey.settle({ reservationId, remaining: { cost: 812 } });
   */
  settle(input: SettleInput<Types>, scope?: VerifyScope): Promise<SettledReservation>;
  /**
   * Ends a reservation without a charge: everything is returned.
   *
   * @throws LatchkeyError like settle.
   * @example
   * await latchkey.release({ reservationId });
   */
  release(input: ReservationReference, scope?: VerifyScope): Promise<SettledReservation>;
  /**
   * Holds a reservation for `ttl` from now on.
   *
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED`, reason `reservation-expired`; `CONFLICT`, reason `reservation-ended`.
   * @example
   * const { expiresAt } = await latchkey.renew({ reservationId, ttl: "1m" });
   */
  renew(
    input: ReservationReference & {
      /** As in reserve. Default: the first `ttl`. */
      readonly ttl?: Duration | undefined;
    },
    scope?: VerifyScope,
  ): Promise<RenewedReservation>;
  /**
   * The open reservations of a key, or of all keys of an identity, in the order of their creation.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * const { reservations } = await latchkey.listReservations({ keyId });
   */
  listReservations(
    input: PageInput & {
      /** Either this or `identityId`. */
      readonly keyId?: string | undefined;
      /** Either this or `keyId`. */
      readonly identityId?: string | undefined;
    },
  ): Promise<ReservationList>;
}
