import type { EpochMs, Hold } from "@latchkey/core";

/**
 * Holds beside one set of counters: the earliest end first, those of one instant by their ids. Mostly there are few, each held for as
 * long as those before it, so that it is added behind them. One list takes less time and memory than a map.
 */
export class HoldsBeside<Found extends { readonly hold: Hold }> {
  readonly #inOrder: Found[] = [];

  /** Adds one that is not there. */
  add(found: Found): void {
    this.#inOrder.splice(this.#placeOf(found.hold), 0, found);
  }

  /** @returns Whether none is left. */
  delete(hold: Hold): boolean {
    const place = this.#placeOf(hold);
    if (this.#inOrder[place]?.hold.id === hold.id) this.#inOrder.splice(place, 1);
    return this.#inOrder.length === 0;
  }

  all(): readonly Found[] {
    return this.#inOrder;
  }

  /** Those that end until then. */
  over(until: EpochMs, limit: number): readonly Found[] {
    // Ends early: each settlement asks for the first one alone.
    const found: Found[] = [];
    for (const each of this.#inOrder) {
      if (found.length === limit || each.hold.expiresAt > until) break;
      found.push(each);
    }
    return found;
  }

  /** How many come before it. */
  #placeOf(hold: Hold): number {
    const last = this.#inOrder.at(-1);
    if (last === undefined || isBefore(last.hold, hold)) return this.#inOrder.length;
    let low = 0;
    let high = this.#inOrder.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore((this.#inOrder[middle] as Found).hold, hold)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(one: Hold, other: Hold): boolean {
  return (
    one.expiresAt < other.expiresAt || (one.expiresAt === other.expiresAt && one.id < other.id)
  );
}
