import type {
  EpochMs,
  LatchkeyError,
  SettledReservation,
  SettleInput,
  SpanMs,
  ValidVerdict,
} from "@latchkey/core";
import { type BackgroundTimer, inBackground } from "./background-timer.js";
import type { GuardLatchkey } from "./question.js";
import { isLatchkeyError } from "./refuse.js";
import type { OnClose, ReservedKey, Settlement } from "./reservation.js";

/** A verdict with which something is held. */
export type HeldVerdict = ValidVerdict &
  Required<Pick<ValidVerdict, "reservationId" | "expiresAt">>;

/** What settles a hold, and who gets its failures. */
export interface HoldPort {
  readonly latchkey: Pick<GuardLatchkey, "settle" | "release" | "renew" | "now">;
  readonly report: (error: unknown) => void;
}

/** An end of a hold, which may be sent more than once. */
type Ending = () => Promise<SettledReservation>;

/** Time after which an end is sent again that the store did not take; then twice as long, and so on. */
const FIRST_RETRY_MS: SpanMs = 100;

/** Other work that is ready may be done first. */
const soon: (call: () => void) => void =
  typeof setImmediate === "function" ? setImmediate : (call) => setTimeout(call, 0);

/**
 * What is held for one response: renewed until that has ended, and then ended itself, once. Nothing of it throws or rejects.
 *
 * The end of the response ends it, unless the handler has begun to: whoever settles in a listener of that end, or right after it has
 * waited for it, comes first.
 */
export class OpenHold {
  readonly #port: HoldPort;
  readonly #reservationId: string;
  /** What becomes of it where the handler says nothing; null where slots are all there is. */
  readonly #onClose: OnClose | null;
  readonly #periodMs: SpanMs;
  #expiresAt: EpochMs;
  #timer: BackgroundTimer;
  /** Ends it as `#close` does, in the async context that it was begun in. */
  #closeInContext!: (how?: "release") => void;
  #isResponseOver = false;
  #isEnded = false;
  /** Whether the end of the response is being settled. */
  #isClosing = false;
  /** Whether the handler has tried to settle or release it, even if refused. */
  #isKnownToHandler = false;
  /** Pending ends of the handler. */
  #pending = 0;

  /** `now`: Unix epoch ms, when the verdict was given. */
  constructor(port: HoldPort, verdict: HeldVerdict, onClose: OnClose | null, now: EpochMs) {
    const { reservationId, expiresAt, ratelimits = [] } = verdict;
    this.#port = port;
    this.#reservationId = reservationId;
    this.#onClose = onClose;
    this.#expiresAt = expiresAt;
    // The slots of a reservation may last for a shorter time than the rest of it.
    const ofSlots = ratelimits.flatMap(({ algorithm, duration }) =>
      algorithm === "concurrent" && duration !== undefined ? [duration] : [],
    );
    this.#periodMs = Math.max(1, Math.floor(Math.min(expiresAt - now, ...ofSlots) / 3));
    this.#timer = this.#renewLater();
    // In the async context of the request: the event that ends a response may have that of another one, or none.
    void new Promise<"release" | undefined>((resolve) => {
      this.#closeInContext = resolve;
    }).then((how) => this.#close(how));
  }

  /** The verdict with what a handler does with its reservation. Those are not listed: it is printed and sent as any other. */
  keyOf(verdict: HeldVerdict): ReservedKey {
    return Object.defineProperties({ ...verdict } as ReservedKey, {
      settle: { value: (used?: Settlement) => this.#settle(used) },
      release: { value: () => this.#release() },
    });
  }

  /** The response has ended. Only the first call counts. `how`: `"release"` where no handler was called. */
  end(how?: "release"): void {
    if (this.#isResponseOver) return;
    this.#isResponseOver = true;
    clearTimeout(this.#timer as number);
    if (how === "release" || this.#onClose === null) this.#closeInContext("release");
    else soon(() => this.#closeInContext());
  }

  #settle(used?: Settlement): Promise<SettledReservation | null> {
    // Read once, so that a retry sends the same. A bare figure is refused, as any input that is no object.
    const isReadable = used === undefined || typeof used === "object";
    const input = isReadable
      ? { ...figuresOf(used), reservationId: this.#reservationId }
      : (used as never);
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
      // It was refused, and nothing else will end it.
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
   * @param answered - Called once then, with the error if this did not end it.
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
      // A clock that fails was told of by the end that failed with it.
      return true;
    }
  }

  /** It has ended. */
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

  /** Whether to report why a hold could not be ended or renewed. Not if its key was deleted, or the host has ended it. */
  #isNews(error: unknown): boolean {
    if (!isRefusal(error)) return true;
    const { code, reason } = error;
    if (code === "NOT_FOUND" || reason === "reservation-ended") return false;
    // Of slots that have ended by themselves, nothing is left to do.
    return !(reason === "reservation-expired" && this.#onClose === null);
  }
}

/** Whether latchkey says no, and would again. */
function isRefusal(error: unknown): error is LatchkeyError {
  try {
    return isLatchkeyError(error) && error.code !== "STORE_UNAVAILABLE";
  } catch {
    // A store may throw what throws when it is looked at.
    return false;
  }
}

function isOfEnded({ code, reason }: LatchkeyError): boolean {
  return code === "NOT_FOUND" || reason === "reservation-ended" || reason === "reservation-expired";
}

/** What was used, as `settle` takes it: with `cost` and `remaining` at once it is refused there. */
function figuresOf(used: Settlement | undefined): Omit<SettleInput, "reservationId"> {
  const { cost, ...rest }: Settlement = { ...used };
  if (cost === undefined) return rest;
  return rest.remaining === undefined ? { ...rest, remaining: { cost } } : { ...used };
}
