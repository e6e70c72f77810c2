import { hash } from "node:crypto";
import type { RecordAddress, StatisticsSubject } from "@latchkey/core";
import { subjectOf } from "./subject.js";

/** Tables that the digests are spread over, by their lowest bits: a single one would block the event loop whenever it grows. */
const TABLES = 256n;

const FIRST_SLOTS = 16;

/** The largest share of the slots of a table that are in use. */
const FULL = 0.75;

/**
 * The subjects of a workspace that have a record. It keeps 64 bits of a SHA-256 of each, in 11 to 22 bytes: the names themselves would take
 * 100 bytes each.
 *
 * Two subjects may have the same 64 bits. A deleted one then counts as one with a record, and its sums are not copied: with a million
 * records and a million deleted subjects, that happens in one of 18 million copies.
 */
export class OwnedSubjects {
  /** Those that are missing have no digest yet: most workspaces are small. */
  readonly #tables: DigestTable[] = [];

  add(records: readonly RecordAddress[]): void {
    for (const record of records) {
      if (subjectOf(record) === null) continue;
      const digest = digestOf(record);
      const table = tableOf(digest);
      this.#tables[table] ??= new DigestTable();
      this.#tables[table].add(digest);
    }
  }

  has(subject: StatisticsSubject): boolean {
    const digest = digestOf(subject);
    return this.#tables[tableOf(digest)]?.has(digest) ?? false;
  }
}

/** A hash table with linear probing. */
class DigestTable {
  /** 0 is a free slot. */
  #slots = new BigUint64Array(FIRST_SLOTS);
  #used = 0;

  add(digest: bigint): void {
    const slot = this.#slotOf(digest);
    if (this.#slots[slot] === digest) return;
    this.#slots[slot] = digest;
    this.#used += 1;
    if (this.#used > FULL * this.#slots.length) this.#grow();
  }

  has(digest: bigint): boolean {
    return this.#slots[this.#slotOf(digest)] === digest;
  }

  /** Where the digest is, or would be. */
  #slotOf(digest: bigint): number {
    const slots = this.#slots;
    let slot = Number((digest / TABLES) % BigInt(slots.length));
    while (slots[slot] !== 0n && slots[slot] !== digest) slot = (slot + 1) % slots.length;
    return slot;
  }

  #grow(): void {
    const digests = this.#slots.filter((digest) => digest !== 0n);
    this.#slots = new BigUint64Array(2 * this.#slots.length);
    for (const digest of digests) this.#slots[this.#slotOf(digest)] = digest;
  }
}

/** Never 0. */
function digestOf({ kind, id }: RecordAddress): bigint {
  return hash("sha256", `${kind} ${id}`, "buffer").readBigUInt64LE() || 1n;
}

function tableOf(digest: bigint): number {
  return Number(digest % TABLES);
}
