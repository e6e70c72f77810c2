import { deepFrozen } from "../lib/json.js";
import type { RecordKind, StoredRecord } from "../records/stored-record.js";
import type { Usage, UsageChange, UsageRefusal } from "./counters.js";

/** The address of a record within a workspace. */
export interface RecordAddress {
  readonly kind: RecordKind;
  readonly id: string;
}

/** What must hold for a change or a charge to happen. */
export interface Expectation extends RecordAddress {
  /** The exact version; `exists` for any version; null: there is no such record. */
  readonly version: number | "exists" | null;
  /** As answered along with the record. It only helps to find it; the store never trusts it. */
  readonly handle?: unknown;
}

/** A name that is unique among the records of a kind: the hash of a key, the `externalId` of an identity. */
export interface Claim {
  readonly kind: RecordKind;
  /** Which sort of name it is: ASCII letters. */
  readonly index: string;
  /** Any text. */
  readonly value: string;
}

/** A place in a list. */
export interface ListEntry {
  /**
   * Printable ASCII without spaces. The list that bears the name of a kind is that of all its records: each enters it with the
   * change that first writes it, leaves it with the change that deletes it, and nothing else is in it. So a store that has the
   * records of a kind in order need not write it down.
   */
  readonly list: string;
  /**
   * One of very many small lists beside the list of that name: the keys of one identity, the audit log of one key. A small
   * list has no size, and costs nothing while it is empty. Any text.
   */
  readonly of?: string | undefined;
  readonly id: string;
}

/** A record to be written whole, whether or not it is there. */
export interface Put {
  /**
   * An entry of the audit log may have the version 0: then the store gives it one. One that is there keeps its own. A new one gets the
   * next of the workspace, one above the highest that any entry ever had, in the order of the puts; 2 is the first. So versions say in which order
   * entries were committed, and none is missing between two but those that were deleted. A change has only entries of this sort or
   * none.
   */
  readonly record: StoredRecord;
  /**
   * `usage`: new counters of its own, without windows; records that it shared others with keep those. `sharedWith`: those of
   * another record of the kind, which exists before the change and has some, from now on shared; the change may delete that
   * record. Omitted: the counters that the record has stay; a new record has none.
   */
  readonly counters?: { readonly usage: Usage } | { readonly sharedWith: string } | undefined;
}

/**
 * A change to the counters of a record that exists before the change and has some. Changes to the same counters follow each
 * other, also those of records that share them. A record whose counters change is neither deleted nor given others.
 */
export interface CounterChange extends RecordAddress {
  readonly usage?: UsageChange | undefined;
  /** The windows that stay, by name; the others are forgotten. Omitted: all stay. */
  readonly keepWindows?: readonly string[] | undefined;
  /** The windows that are forgotten, by name, also of those that stay. */
  readonly dropWindows?: readonly string[] | undefined;
}

/**
 * One atomic change of a workspace: all of it or nothing. It is judged and carried out in this order: expectations, claims
 * (with the releases of the same change made, and its deletions not), counters; then everything is written: puts, then
 * deletions. No record is put and deleted at once, and none twice.
 */
export interface Change {
  readonly expects: readonly Expectation[];
  readonly puts: readonly Put[];
  /** A record goes together with its share in its counters: these live as long as any record that has them. Gone already is fine. */
  readonly deletes: readonly RecordAddress[];
  /** Taken where another record has the name: one that is gone has none, whether or not it released it. */
  readonly claims: readonly (Claim & { readonly id: string })[];
  /** Names to be free again, if they are this record's. */
  readonly releases: readonly (Claim & { readonly id: string })[];
  /** Into lists. Twice is once. */
  readonly enters: readonly ListEntry[];
  /** Out of lists. Not in it is fine. */
  readonly leaves: readonly ListEntry[];
  readonly counters: readonly CounterChange[];
  /** Windows of the workspace that are forgotten, by name: those of limits without an owner. */
  readonly dropWindows: readonly string[];
  /** The revision of the workspace from then on: a whole number >= 1 that it never had. Null: it stays. */
  readonly revision: number | null;
}

/** A {@link Change} that is still added to. */
export type ChangeDraft = {
  -readonly [Field in keyof Change]: Change[Field] extends readonly (infer Item)[]
    ? Item[]
    : Change[Field];
};

/** A change of nothing, with lists of its own to add to. */
export function emptyChange(): ChangeDraft {
  return {
    expects: [],
    puts: [],
    deletes: [],
    claims: [],
    releases: [],
    enters: [],
    leaves: [],
    counters: [],
    dropWindows: [],
    revision: null,
  };
}

/** A change of nothing, to be spread into one of something. */
export const EMPTY_CHANGE: Change = deepFrozen(emptyChange());

/** What became of a {@link Change}. All but `committed` wrote nothing. */
export type CommitResult =
  /** The use counter after each of `counters`, in their order. */
  | { readonly kind: "committed"; readonly usages: readonly Usage[] }
  /** `index`: the first of `expects` that does not hold. */
  | { readonly kind: "stale"; readonly index: number }
  /** `index`: the first of `claims` whose name another record has, or an earlier one of `claims`. */
  | { readonly kind: "taken"; readonly index: number }
  /** `index`: the first of `counters` that refuses. */
  | { readonly kind: "refused"; readonly index: number; readonly reason: UsageRefusal };
