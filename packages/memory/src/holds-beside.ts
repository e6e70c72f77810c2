import type { EpochMs, Hold } from "@latchkey/core";

/**
 * Holds beside one set of counters. Most are held for as long as those before them, so that the first to come is the first to end: only
 * where one was not are all of them looked at to find it.
 */
export class HoldsBeside<Found extends { readonly hold: Hold }> {
  readonly #byId = new Map<string, Found>();
  #latest: Hold | null = null;
  #isInOrder = true;

  set(found: Found): void {
    const { hold } = found;
    this.#byId.set(hold.id, found);
    if (this.#latest !== null && isBefore(hold, this.#latest)) this.#isInOrder = false;
    else this.#latest = hold;
  }

  /** @returns Whether none is left. */
  delete(id: string): boolean {
    this.#byId.delete(id);
    return this.#byId.size === 0;
  }

  all(): Iterable<Found> {
    return this.#byId.values();
  }

  /** Those that end until then, the earliest first. */
  over(until: EpochMs, limit: number): readonly Found[] {
    if (!this.#isInOrder && limit > 1)
      return [...this.#byId.values()]
        .filter(({ hold }) => hold.expiresAt <= until)
        .sort(({ hold: one }, { hold: other }) => (isBefore(one, other) ? -1 : 1))
        .slice(0, limit);
    if (!this.#isInOrder) {
      const first = this.#first();
      return first !== null && first.hold.expiresAt <= until ? [first] : [];
    }
    const found: Found[] = [];
    for (const each of this.#byId.values()) {
      if (found.length === limit || each.hold.expiresAt > until) break;
      found.push(each);
    }
    return found;
  }

  #first(): Found | null {
    let first: Found | null = null;
    for (const each of this.#byId.values())
      if (first === null || isBefore(each.hold, first.hold)) first = each;
    return first;
  }
}

function isBefore(one: Hold, other: Hold): boolean {
  return (
    one.expiresAt < other.expiresAt || (one.expiresAt === other.expiresAt && one.id < other.id)
  );
}
