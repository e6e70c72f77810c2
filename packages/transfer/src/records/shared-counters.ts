import type { Put } from "@latchkey/core";
import type { CopiedRecord, Difference } from "./copied-record.js";

/**
 * Which keys of the target share counters with which: those of a rotation do, whoever of them is still there. The first one that is
 * written brings the counters, the others are given a share in them.
 */
export class SharedCounters {
  /** Ids of keys on the target, by what they have in common. */
  readonly #holders = new Map<string, Set<string>>();
  /** Those that bring counters and are about to be written. */
  readonly #begun = new Set<string>();

  /** Whether the key can be written now: not while the one is under way that brings the counters. */
  isReady({ wanted, present }: Difference): boolean {
    const name = wanted?.layout.sharedCountersId ?? null;
    // A key that is there brings them, also where the rotation is newer than what the target knows of it.
    if (wanted !== null && present !== null) this.learn(wanted.record.id, name);
    if (name === null || this.#holders.has(name)) return true;
    if (this.#begun.has(name)) return false;
    this.#begun.add(name);
    return true;
  }

  /** The counters that a new record is written with. */
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
    const holders = this.#holders.get(name) ?? new Set();
    this.#holders.set(name, holders.add(id));
    this.#begun.delete(name);
  }

  forget({ record, layout }: CopiedRecord): void {
    const name = layout.sharedCountersId ?? "";
    const holders = this.#holders.get(name);
    holders?.delete(record.id);
    if (holders?.size === 0) this.#holders.delete(name);
  }
}
