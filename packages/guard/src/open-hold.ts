import {
  type EpochMs,
  LatchkeyError,
  type SettledReservation,
  type SettleInput,
  type SpanMs,
  type ValidVerdict,
} from "@latchkey/core";
import { type BackgroundTimer, inBackground, soon } from "./background-timer.js";
import type { GuardLatchkey } from "./question.js";
import { isLatchkeyError } from "./refuse.js";
import type { OnClose, ReservedKey, Settlement } from "./reservation.js";

/** A verdict that holds something: slots of a concurrent limit, or a reservation. */
export type HeldVerdict = ValidVerdict &
  Required<Pick<ValidVerdict, "reservationId" | "expiresAt">>;

/** Where a hold is settled, and where its failures are reported. */
export interface HoldPort {
  readonly latchkey: Pick<GuardLatchkey, "settle" | "release" | "renew" | "now">;
  readonly report: (error: unknown) => void;
}

/** Settles or releases a hold. May be called more than once. */
type Ending = () => Promise<SettledReservation>;

/** Pause before an end is sent again after the store has failed. Each further pause is twice as long. */
const FIRST_RETRY_MS: SpanMs = 100;

/**
 * What is held for one response: it is renewed while the response is open, and then ended once. No method throws or rejects.
 *
 * When the response ends, the hold ends too, unless the handler is already ending it. A handler that settles in a listener for the end of
 * the response, or right after waiting for it, comes first.
 */
export class OpenHold {
  readonly #port: HoldPort;
  readonly #reservationId: string;
  /** How it ends if the handler does nothing; null if only slots are held. */
  readonly #onClose: OnClose | null;
  readonly #periodMs: SpanMs;
  #expiresAt: EpochMs;
  #timer: BackgroundTimer;
  /** Calls `#close` in the async context of the request. Only the first call counts. */
  #closeInContext!: (how?: "release") => void;
  #isResponseOver = false;
  #isEnded = false;
  /** Whether it is being ended because the response has ended. */
  #isClosing = false;
  /** Whether the handler has tried to settle or release it, even if refused. */
  #isKnownToHandler = false;
  /** Calls of `settle` and `release` by the handler that are still in progress. */
  #pending = 0;

  /** `now`: when the verdict was given, in Unix epoch ms. */
  constructor(port: HoldPort, verdict: HeldVerdict, onClose: OnClose | null, now: EpochMs) {
    const { reservationId, expiresAt, ratelimits = [] } = verdict;
    this.#port = port;
    this.#reservationId = reservationId;
    this.#onClose = onClose;
    this.#expiresAt = expiresAt;
    // The slots of a reservation may expire before the rest of it.
    const ofSlots = ratelimits.flatMap(({ algorithm, duration }) =>
      algorithm === "concurrent" && duration !== undefined ? [duration] : [],
    );
    this.#periodMs = Math.max(1, Math.floor(Math.min(expiresAt - now, ...ofSlots) / 3));
    this.#timer = this.#renewLater();
    // The constructor runs in the async context of the request. The event that ends a response may run in that of another one, or in none.
    void new Promise<"release" | undefined>((resolve) => {
      this.#closeInContext = resolve;
    }).then((how) => this.#close(how));
  }

  /** The verdict with `settle` and `release`. They are not enumerable, so it prints and serializes like any other verdict. */
  keyOf(verdict: HeldVerdict): ReservedKey {
    return Object.defineProperties({ ...verdict } as ReservedKey, {
      settle: { value: (used?: Settlement) => this.#settle(used) },
      release: { value: () => this.#release() },
    });
  }

  /** To be called when the response has ended. Only the first call counts. `how`: `"release"` if no handler was called. */
  end(how?: "release"): void {
    if (this.#isResponseOver) return;
    this.#isResponseOver = true;
    clearTimeout(this.#timer as number);
    if (how === "release" || this.#onClose === null) this.#closeInContext("release");
    else soon(() => this.#closeInContext());
  }

  #settle(used?: Settlement): Promise<SettledReservation | null> {
    if (used !== undefined && typeof used !== "object")
      return this.#endForHandler(refuseSettlement);
    // Read once, so that a retry sends the same.
    const input = { ...figuresOf(used), reservationId: this.#reservationId };
    return this.#endForHandler(() => this.#port.latchkey.settle(input));
  }

  #release(): Promise<SettledReservation | null> {
    const { latchkey } = this.#port;
    return this.#endForHandler(() => latchkey.release({ reservationId: this.#reservationId }));
  }

  #endForHandler(ending: Ending): Promise<SettledReservation | null> {
    this.#isKnownToHandler = true;
    this.#pending += 1;
    return this.#send(ending, (refusal) => {
      this.#pending -= 1;
      if (refusal !== null) this.#port.report(refusal.error);
      // If it was refused, nothing else would end the hold.
      if (this.#isResponseOver) this.#close();
    });
  }

  #close(how = this.#isKnownToHandler ? "settle" : this.#onClose): void {
    if (this.#isEnded || this.#isClosing || this.#pending > 0) return;
    this.#isClosing = true;
    const { latchkey, report } = this.#port;
    const reservation = { reservationId: this.#reservationId };
    const ending = () =>
      how === "settle" ? latchkey.settle(reservation) : latchkey.release(reservation);
    void this.#send(ending, (refusal) => {
      if (refusal !== null && this.#isNews(refusal.error)) report(refusal.error);
    });
  }

  /**
   * Sends an end until the store responds, or the hold has expired.
   *
   * @param answered - Called once after that; with the error if this did not end the hold.
   * @returns The result; null if the first try failed.
   */
  async #send(
    ending: Ending,
    answered: (refusal: { readonly error: unknown } | null) => void,
    waitMs = FIRST_RETRY_MS,
  ): Promise<SettledReservation | null> {
    try {
      const settled = await ending();
      this.#forget();
      answered(null);
      return settled;
    } catch (error) {
      const nextMs = Math.min(waitMs, this.#periodMs);
      const isRefused = isRefusal(error);
      if (!isRefused && !this.#isOverIn(nextMs)) {
        this.#port.report(error);
        inBackground(() => void this.#send(ending, answered, 2 * nextMs), nextMs);
        return null;
      }
      if (!isRefused || isOfEnded(error)) this.#forget();
      answered({ error });
      return null;
    }
  }

  #isOverIn(ms: SpanMs): boolean {
    try {
      return this.#port.latchkey.now() + ms >= this.#expiresAt;
    } catch {
      // The end failed for the same reason, and reports it.
      return true;
    }
  }

  /** Stops renewing: the hold has ended. */
  #forget(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer as number);
  }

  #renewLater(): BackgroundTimer {
    return inBackground(() => void this.#renew(), this.#periodMs);
  }

  async #renew(): Promise<void> {
    const { latchkey, report } = this.#port;
    try {
      const { expiresAt } = await latchkey.renew({ reservationId: this.#reservationId });
      this.#expiresAt = expiresAt;
    } catch (error) {
      if (isRefusal(error)) {
        this.#forget();
        if (this.#isNews(error)) report(error);
      } else report(error);
    }
    if (!this.#isResponseOver && !this.#isEnded) this.#timer = this.#renewLater();
  }

  /** Whether to report an error of ending or renewing a hold. Not if its key was deleted, or the host has ended the hold. */
  #isNews(error: unknown): boolean {
    if (!isRefusal(error)) return true;
    const { code, reason } = error;
    if (code === "NOT_FOUND" || reason === "reservation-ended") return false;
    // Slots that have expired are free anyway.
    return !(reason === "reservation-expired" && this.#onClose === null);
  }
}

/** Whether latchkey refused the call, so that a retry would fail too. */
function isRefusal(error: unknown): error is LatchkeyError {
  try {
    return isLatchkeyError(error) && error.code !== "STORE_UNAVAILABLE";
  } catch {
    // A store may throw an object whose getters throw.
    return false;
  }
}

function isOfEnded({ code, reason }: LatchkeyError): boolean {
  return code === "NOT_FOUND" || reason === "reservation-ended" || reason === "reservation-expired";
}

/** Refuses anything but an object, such as a bare number. */
async function refuseSettlement(): Promise<never> {
  throw new LatchkeyError("BAD_REQUEST", "settle takes an object, such as { cost: 812 }");
}

/** The input of `settle`. With both `cost` and `remaining`, it is passed on unchanged, and refused there. */
function figuresOf(used: Settlement | undefined): Omit<SettleInput, "reservationId"> {
  const { cost, ...rest }: Settlement = { ...used };
  if (cost === undefined) return rest;
  return rest.remaining === undefined ? { ...rest, remaining: { cost } } : { ...used };
}
