import type { Clock, EpochMs } from "@latchkey/core";

/**
 * Values that expire. Each `set` deletes at most two expired ones: no call scans them all.
 *
 * A value has expired once its time is before both the machine's clock and the caller's: a caller whose clock is ahead expires nothing
 * for others, and a caller with an earlier clock, as in tests, loses nothing to the machine's.
 */
export class ExpiringMap<Value> {
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly value: Value; readonly until: EpochMs }>();
  /** Kept between steps: a new iterator would first step over every hole at the front. */
  #sweep = this.#entries.entries();

  /** `clock`: the machine's clock. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The value, even if it has expired and is not deleted yet. */
  get(name: string): Value | null {
    return this.#entries.get(name)?.value ?? null;
  }

  names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  set(name: string, value: Value, until: EpochMs, now: EpochMs): void {
    this.#entries.set(name, { value, until });
    // Two, since at most one was added: values are deleted faster than they are added.
    this.#forgetNext(now);
    this.#forgetNext(now);
  }

  delete(name: string): void {
    this.#entries.delete(name);
  }

  #forgetNext(now: EpochMs): void {
    const { value: entry } = this.#sweep.next();
    if (entry === undefined) this.#sweep = this.#entries.entries();
    else if (entry[1].until < now && entry[1].until < this.#clock()) this.#entries.delete(entry[0]);
  }
}
