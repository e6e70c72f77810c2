import type { Clock, EpochMs, SpanMs } from "@latchkey/core";
import { AddressFailures } from "./address-failures.js";
import { networkOf } from "./address-network.js";
import type { Turn } from "./deadline.js";
import type { GuardSettings } from "./options.js";

/** Requests of one network that are being decided, or wait for that. */
interface Undecided {
  count: number;
  /** One function per waiting request, which wakes it; in order of arrival. */
  readonly waiting: Set<() => void>;
}

/** Whether a request may be decided now. If so, `leave` must be called with the result: whether it ended in 401. */
export type Passage =
  | { readonly kind: "pass"; readonly leave: (isFailure: boolean) => void }
  | { readonly kind: "no-room"; readonly retryAfterMs: SpanMs };

/** For a request that is not counted. */
export const FREE_PASSAGE: Passage = { kind: "pass", leave: () => undefined };

/**
 * Admits requests of an address while there is room for their failures. Only as many requests are decided at the same time as may still
 * fail; the others wait. So no window ever has more failures than its limit, and no good request is refused because of undecided ones.
 */
export class AddressGate {
  readonly #failures: AddressFailures;
  readonly #now: Clock;
  readonly #undecided = new Map<string, Undecided>();
  /** The last time the clock returned. */
  #latest: EpochMs = 0;

  constructor(limit: NonNullable<GuardSettings<never>["limitByAddress"]>, now: Clock) {
    this.#failures = new AddressFailures(limit);
    this.#now = now;
  }

  /**
   * Waits until the request may be decided, or there is no room for its failure.
   *
   * @param address - From `canonicalAddress`; null if unknown: such a request is not counted.
   * @param turn - When it is over, other requests no longer wait for this one.
   */
  async enter(address: string | null, turn: Turn): Promise<Passage> {
    if (address === null) return FREE_PASSAGE;
    const network = networkOf(address);
    while (!turn.isOver) {
      const now = this.#now();
      this.#latest = now;
      const room = this.#failures.roomOf(network, now);
      if (room === 0) return { kind: "no-room", retryAfterMs: this.#failures.msUntilNext(now) };
      const undecided = this.#undecided.get(network) ?? { count: 0, waiting: new Set() };
      this.#undecided.set(network, undecided);
      if (undecided.count < room) return this.#pass(network, undecided, turn);
      await new Promise<void>((resolve) => {
        undecided.waiting.add(resolve);
        turn.whenOver = () => {
          undecided.waiting.delete(resolve);
          resolve();
        };
      });
    }
    // This request may have been woken in place of another one, which would then wait for ever.
    this.#wake(network);
    return FREE_PASSAGE;
  }

  #pass(network: string, undecided: Undecided, turn: Turn): Passage {
    undecided.count += 1;
    let isInside = true;
    const leave = (isFailure: boolean): void => {
      if (!isInside) return;
      isInside = false;
      undecided.count -= 1;
      if (isFailure) this.#failures.count(network, this.#instant());
      this.#wake(network);
    };
    turn.whenOver = () => leave(false);
    return { kind: "pass", leave };
  }

  /** Now, or the last known time if the clock fails: a request that leaves must still be counted. */
  #instant(): EpochMs {
    try {
      this.#latest = this.#now();
    } catch {
      // The next request to enter reports it.
    }
    return this.#latest;
  }

  /** Wakes as many waiting requests as may be decided now; if there is no room, all of them, to be refused. */
  #wake(network: string): void {
    const undecided = this.#undecided.get(network);
    if (undecided === undefined) return;
    const room = this.#failures.roomOf(network, this.#instant());
    let free = room === 0 ? Number.POSITIVE_INFINITY : room - undecided.count;
    for (const wake of undecided.waiting) {
      if (free <= 0) break;
      free -= 1;
      undecided.waiting.delete(wake);
      wake();
    }
    if (undecided.count === 0 && undecided.waiting.size === 0) this.#undecided.delete(network);
  }
}
