import type { EpochMs, Hold } from "@latchkey/core";

/**
 * Holds beside one set of counters, ordered by end and then by id. There are usually few, and a new one usually ends last, so it is
 * appended. An array takes less time and memory than a map.
 */
export class HoldsBeside<Found extends { readonly hold: Hold }> {
  readonly #inOrder: Found[] = [];

  /** Adds a hold that is not in the list. */
  add(found: Found): void {
    this.#inOrder.splice(this.#placeOf(found.hold), 0, found);
  }

  /** @returns Whether no hold is left. */
  delete(hold: Hold): boolean {
    const place = this.#placeOf(hold);
    if (this.#inOrder[place]?.hold.id === hold.id) this.#inOrder.splice(place, 1);
    return this.#inOrder.length === 0;
  }

  all(): readonly Found[] {
    return this.#inOrder;
  }

  /** At most `limit` holds that end at `until` or before, earliest end first. */
  over(until: EpochMs, limit: number): readonly Found[] {
    // Stops early: each settlement asks only for the first hold.
    const found: Found[] = [];
    for (const each of this.#inOrder) {
      if (found.length === limit || each.hold.expiresAt > until) break;
      found.push(each);
    }
    return found;
  }

  /** How many holds come before it. */
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
