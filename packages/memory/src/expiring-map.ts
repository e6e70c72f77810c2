import type { Clock, EpochMs } from "@latchkey/core";

/**
 * Values that only time bounds. Those whose time has passed are forgotten, a few at a time: no call looks at all of them.
 *
 * It has passed when it has by the machine's clock as well as by the caller's: a caller whose clock is ahead ends nothing for others,
 * and one that was handed an earlier clock, as tests are, loses nothing to the machine's.
 */
export class ExpiringMap<Value> {
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly value: Value; readonly until: EpochMs }>();
  /** Kept between steps: a new iterator would first step over every hole at the front. */
  #sweep = this.#entries.entries();

  /** `clock`: the machine's. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

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
    else if (entry[1].until < now && entry[1].until < this.#clock()) this.#entries.delete(entry[0]);
  }
}
