import type { EpochMs } from "@latchkey/core";

interface Entry<Value> {
  value: Value;
  keepUntil: EpochMs;
}

/**
 * Values that nothing bounds but time: windows of limits that requests made up, results of charges with a
 * request id. Those whose time has passed are forgotten, a few whenever one is set, so that no call ever has to
 * look at all of them.
 */
export class ExpiringMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  /**
   * Kept between sweeps: an iterator of a Map goes on where it stood and sees what was added since, whereas a
   * new one would first step over every hole that deleted entries left at the front.
   */
  #sweeping: Iterator<[string, Entry<Value>]> = this.#entries.entries();

  get size(): number {
    return this.#entries.size;
  }

  /** The value, also when its time has passed and it was not forgotten yet. */
  get(name: string): Value | null {
    return this.#entries.get(name)?.value ?? null;
  }

  /** Keeps a value until an instant, and forgets up to two others whose instant lies before `now`. */
  set(name: string, value: Value, keepUntil: EpochMs, now: EpochMs): void {
    const known = this.#entries.get(name);
    if (known === undefined) this.#entries.set(name, { value, keepUntil });
    else {
      known.value = value;
      known.keepUntil = keepUntil;
    }
    // Two, since one was added at most: forgetting is faster than remembering.
    this.#forgetNext(now);
    this.#forgetNext(now);
  }

  clear(): void {
    this.#entries.clear();
  }

  #forgetNext(now: EpochMs): void {
    const next = this.#sweeping.next();
    if (next.done) {
      this.#sweeping = this.#entries.entries();
      return;
    }
    const [name, { keepUntil }] = next.value;
    if (keepUntil < now) this.#entries.delete(name);
  }
}
