import type { ErrorCode } from "../errors.js";
import { type ErrorListener, report } from "../lib/error-listener.js";
import { isThenable } from "../lib/promises.js";
import type { StoreMethod } from "../store/intercept.js";
import type { EpochMs } from "../time.js";
import type { LimitCost } from "../verification/question.js";
import type { VerifyOutcome } from "../verification/verdict.js";
import type { AuditEvent } from "./entry.js";

interface AnyEvent {
  readonly workspaceId: string;
  /** Unix epoch ms. */
  readonly at: EpochMs;
  /** How long it took, in ms with fractions; in whole ms if you set `clock`. */
  readonly durationMs: number;
}

/** Fields of every event about a verification of a key. Never the presented secret, nor any part of it. */
interface AboutKey extends AnyEvent {
  readonly keyId: string;
  readonly apiId: string;
  readonly identityId?: string;
}

interface AboutVerdict {
  readonly type: "key.verified";
  /** Whether the key was in the cache, so that the store only confirmed it. */
  readonly cached: boolean;
  /** Present if a lease decided: the store confirmed the key a moment before and was not asked. */
  readonly leased?: true;
  /** The tags that the caller passed. */
  readonly tags?: readonly string[];
}

/** Added if shadow limits would have refused. */
interface AboutShadows {
  /** In addition to the verdict's code; absent if every shadow limit had room. */
  readonly shadow?: {
    readonly code: "SHADOW_LIMITED";
    /** Names of the shadow limits, in the order of the verdict. */
    readonly ratelimits: readonly string[];
  };
}

/** A key was verified. `durationMs` is from the call to the verdict. */
export type KeyVerifiedEvent =
  | (AboutKey &
      AboutVerdict &
      AboutShadows & { readonly code: Exclude<VerifyOutcome["code"], "NOT_FOUND"> })
  | (AnyEvent & AboutVerdict & { readonly code: "NOT_FOUND" });

/** A verification took the last use that the key had. */
export interface KeyExhaustedEvent extends AboutKey {
  readonly type: "key.exhausted";
}

/** A key was presented after its expiry. Emitted with each such verification, not at the expiry itself. */
export interface KeyExpiredEvent extends AboutKey {
  readonly type: "key.expired";
  readonly expiredAt: EpochMs;
}

/** Configuration was changed. `durationMs` is from the first read of the transaction to its commit. */
export interface ChangeEvent extends AuditEvent, Pick<AnyEvent, "durationMs"> {}

/** A call of the store failed. Its caller gets the error as well. */
export interface StoreFailedEvent extends AnyEvent {
  readonly type: "store.failed";
  readonly method: StoreMethod;
  /** `STORE_UNAVAILABLE` or `STORE_CORRUPT`; `INTERNAL_SERVER_ERROR` for any error that is not a `LatchkeyError`. */
  readonly code: ErrorCode;
  /** For `STORE_UNAVAILABLE`: whether the call is known to have changed nothing. */
  readonly outcome?: "not-applied" | "unknown";
}

interface AboutReservation extends AnyEvent {
  readonly reservationId: string;
  readonly keyId: string;
  readonly identityId?: string;
}

/** A reservation was settled or released, with its actual cost. Not emitted again for repeats. */
export interface ReservationSettledEvent extends AboutReservation {
  readonly type: "reservation.settled";
  /** Uses that were charged. */
  readonly uses: number;
  /** Units that were charged, of each limit except concurrent ones. */
  readonly ratelimits: readonly LimitCost[];
}

/** A reservation expired, and what it held was returned. Emitted once, by the process that notices it. */
export interface ReservationExpiredEvent extends AboutReservation {
  readonly type: "reservation.expired";
  /** Unix epoch ms. */
  readonly expiredAt: EpochMs;
}

/** Every event: switch over `type`. */
export type LatchkeyEvent =
  | ChangeEvent
  | KeyVerifiedEvent
  | KeyExhaustedEvent
  | KeyExpiredEvent
  | ReservationSettledEvent
  | ReservationExpiredEvent
  | StoreFailedEvent;

/** Called with every event, in the order in which they happened in this process. */
export type EventListener = (event: LatchkeyEvent) => unknown;

/** Passes an event to the listener. Never throws. */
export type Emit = (event: LatchkeyEvent) => void;

/** Nothing waits for the listener. If it keeps failing, `onError` gets its first error, and another one after it has worked again. */
export function createEmitter(listener: EventListener, onError: ErrorListener): Emit {
  let isFailing = false;
  const worked = (): void => {
    isFailing = false;
  };
  const failed = (error: unknown): void => {
    if (!isFailing) report(onError, error);
    isFailing = true;
  };
  return (event) => {
    try {
      const answer = listener(event);
      if (isThenable(answer)) Promise.resolve(answer).then(worked, failed);
      else worked();
    } catch (error) {
      failed(error);
    }
  };
}
