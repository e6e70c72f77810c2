import { type EpochMs, type SpanMs, windowStartAt } from "@latchkey/core";

/** Maximum number of networks in the table. */
export const MAX_NETWORKS = 10_000;

/** Networks without room beyond this number are the first to be forgotten. */
const MAX_USED_UP = MAX_NETWORKS / 2;

/**
 * Counts the failures of each network in the current window. All networks share one window: when it ends, all counts are dropped.
 *
 * The table is bounded. When it overflows, it forgets the network whose latest failed attempt is longest ago: one with room, because an
 * attacker gets into the table with a single request; or one without room, if those take up more than half of the table. So a network
 * without room is forgotten only after 5,000 others have used up their room, and a new network is always counted from its first failure on.
 */
export class AddressFailures {
  readonly #limit: number;
  readonly #duration: SpanMs;
  #windowStartsAt: EpochMs = 0;
  /** Failures by network, the network with the latest failure last. */
  readonly #withRoom = new Map<string, number>();
  readonly #usedUp = new Map<string, number>();

  /** `limit`: failures allowed in each window, a whole number >= 1. `duration`: length of a window, whole ms >= 1. */
  constructor({ limit, duration }: { readonly limit: number; readonly duration: SpanMs }) {
    this.#limit = limit;
    this.#duration = duration;
  }

  /** How many more failures the network may have in the window that contains `now`: a whole number >= 0. */
  roomOf(network: string, now: EpochMs): number {
    this.#open(now);
    if (!this.#usedUp.has(network)) return this.#limit - (this.#withRoom.get(network) ?? 0);
    // Asking counts as an attempt, so a network that keeps trying is not forgotten.
    moveToEnd(this.#usedUp, network, this.#limit);
    return 0;
  }

  /** Counts a failure of the network. */
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
