import type { EpochMs } from "@latchkey/core";

/** Values that only time bounds. Those whose time has passed are forgotten, a few at a time: no call looks at all of them. */
export class ExpiringMap<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly until: EpochMs }>();
  /** Kept between steps: an iterator goes on where it stood, and a new one would first step over every hole at the front. */
  #sweep = this.#entries.entries();

  /** The value, also when its time has passed and it was not forgotten yet. */
  get(name: string): Value | null {
    return this.#entries.get(name)?.value ?? null;
  }

  names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  set(name: string, value: Value, until: EpochMs, now: EpochMs): void {
    this.#entries.set(name, { value, until });
    // Two, since one was added at most: forgetting is faster than remembering.
    this.#forgetNext(now);
    this.#forgetNext(now);
  }

  delete(name: string): void {
    this.#entries.delete(name);
  }

  #forgetNext(now: EpochMs): void {
    const { value: entry } = this.#sweep.next();
    if (entry === undefined) this.#sweep = this.#entries.entries();
    else if (entry[1].until < now) this.#entries.delete(entry[0]);
  }
}
