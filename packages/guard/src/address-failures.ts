import { type EpochMs, type SpanMs, windowStartAt } from "@latchkey/core";

/** Most networks that failures are kept of. */
export const MAX_NETWORKS = 10_000;

/** Most of them that may be networks without room. */
const MAX_USED_UP = MAX_NETWORKS / 2;

/**
 * Counts failures of each network in the current window, which is the same for all networks: when it ends, all counts are dropped.
 *
 * The table is bounded. Where it is full, the network is forgotten whose latest attempt is longest ago: among those with room, for to be
 * one of them costs an attacker a single request, unless networks without room take up more than half. So somebody without room has to
 * use up 5,000 other networks to be forgotten, and a network that is not known yet is always counted from its first failure on.
 */
export class AddressFailures {
  readonly #limit: number;
  readonly #duration: SpanMs;
  #windowStartsAt: EpochMs = 0;
  /** Failures by network, that with the latest last. */
  readonly #withRoom = new Map<string, number>();
  readonly #usedUp = new Map<string, number>();

  /** `limit`: failures in each window: a whole number >= 1. `duration`: of a window, in ms: a whole number >= 1. */
  constructor({ limit, duration }: { readonly limit: number; readonly duration: SpanMs }) {
    this.#limit = limit;
    this.#duration = duration;
  }

  /** Failures that a network has left in the window that contains `now`: a whole number >= 0. */
  roomOf(network: string, now: EpochMs): number {
    this.#open(now);
    if (!this.#usedUp.has(network)) return this.#limit - (this.#withRoom.get(network) ?? 0);
    // An attempt: a network that keeps trying is not dropped.
    moveToEnd(this.#usedUp, network, this.#limit);
    return 0;
  }

  /** Counts a failure. */
  count(network: string, now: EpochMs): void {
    const room = this.roomOf(network, now);
    if (room === 0) return;
    const failures = this.#limit - room + 1;
    if (failures < this.#limit) moveToEnd(this.#withRoom, network, failures);
    else {
      this.#withRoom.delete(network);
      this.#usedUp.set(network, failures);
    }
    if (this.#withRoom.size + this.#usedUp.size > MAX_NETWORKS) this.#forgetOne();
  }

  /** Ms from `now` until the next window opens. */
  msUntilNext(now: EpochMs): SpanMs {
    return windowStartAt(now, this.#duration) + this.#duration - now;
  }

  #open(now: EpochMs): void {
    const startsAt = windowStartAt(now, this.#duration);
    if (startsAt === this.#windowStartsAt) return;
    this.#windowStartsAt = startsAt;
    this.#withRoom.clear();
    this.#usedUp.clear();
  }

  #forgetOne(): void {
    const from = this.#usedUp.size > MAX_USED_UP ? this.#usedUp : this.#withRoom;
    for (const network of from.keys()) {
      from.delete(network);
      return;
    }
  }
}

function moveToEnd(failures: Map<string, number>, network: string, count: number): void {
  failures.delete(network);
  failures.set(network, count);
}
