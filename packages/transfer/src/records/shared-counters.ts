import type { Put } from "@latchkey/core";
import type { CopiedRecord, Difference } from "./copied-record.js";

/**
 * Which keys of the target share counters: those of one rotation, as far as they still exist. The first key written brings the
 * counters, and the others share them.
 */
export class SharedCounters {
  /** Ids of keys on the target, by the counters that they share. */
  readonly #holders = new Map<string, Set<string>>();
  /** The counters of each key that shared some, also of one that is gone. */
  readonly #names = new Map<string, string>();
  /** Those that bring counters and are being written. */
  readonly #begun = new Set<string>();

  /** Whether the key can be written now: not while the key that brings its counters is being written. */
  isReady({ wanted, present }: Difference): boolean {
    const name = wanted?.layout.sharedCountersId ?? null;
    // An existing key brings them, even if the target does not know of the rotation yet.
    if (wanted !== null && present !== null) this.learn(wanted.record.id, name);
    if (name === null || this.#holders.has(name)) return true;
    if (this.#begun.has(name)) return false;
    this.#begun.add(name);
    return true;
  }

  /** The counters to write a new record with. */
  countersOf({ record, usage, layout }: CopiedRecord): Put["counters"] {
    if (usage === null) return undefined;
    const name = layout.sharedCountersId;
    const [holder] = name === null ? [] : (this.#holders.get(name) ?? []);
    this.learn(record.id, name);
    const { holds: _, ...own } = usage;
    return holder === undefined ? { usage: own } : { sharedWith: holder };
  }

  learn(id: string, name: string | null): void {
    if (name === null) return;
    this.#names.set(id, name);
    const holders = this.#holders.get(name) ?? new Set();
    this.#holders.set(name, holders.add(id));
    this.#begun.delete(name);
  }

  /** Learns which keys have reservations on the counters of a key: also ones that were rotated and deleted long ago. */
  learnHolders({ layout, holds }: CopiedRecord): void {
    const name = layout.sharedCountersId;
    if (name !== null) for (const { keyId } of holds) this.#names.set(keyId, name);
  }

  /** The keys on the target that share the counters of a key, that key included. */
  sharersOf(id: string): Iterable<string> {
    return this.#holders.get(this.#names.get(id) ?? "") ?? [];
  }

  forget({ record, layout }: CopiedRecord): void {
    const name = layout.sharedCountersId ?? "";
    const holders = this.#holders.get(name);
    holders?.delete(record.id);
    if (holders?.size === 0) this.#holders.delete(name);
  }
}
