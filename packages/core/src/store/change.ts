import { deepFrozen } from "../lib/json.js";
import type { RecordKind, StoredRecord } from "../records/record-type.js";
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
  /** As returned with the record. It only helps the store to find it. */
  readonly handle?: unknown;
}

/** A name that is unique among the records of a kind: the hash of a key, the `externalId` of an identity. */
export interface Claim {
  readonly kind: RecordKind;
  /** Kind of name: ASCII letters. */
  readonly index: string;
  /** Any text. */
  readonly value: string;
}

/** A place in a list. */
export interface ListEntry {
  /**
   * Printable ASCII without spaces. The list named after a kind has exactly the records of that kind, each from the change that first
   * writes it to the change that deletes it. A store that has the records of a kind in order need not store this list.
   */
  readonly list: string;
  /**
   * Any text: names one of many small lists of that name, such as the keys of one identity. A small list has no size, and costs nothing
   * while it is empty.
   */
  readonly of?: string | undefined;
  readonly id: string;
}

/** A record to write, whether or not it exists. */
export interface Put {
  /**
   * Entries of the audit log can have version 0: then the store numbers them. An existing entry keeps its number. New ones get the next
   * numbers of the workspace, in the order of the puts: above the highest that any entry ever had, starting with 2. So numbers show the
   * order of commits, and only deleted entries leave gaps. Either all entries of a change have version 0, or none.
   */
  readonly record: StoredRecord;
  /**
   * `usage`: new counters, without windows; records that shared the old ones keep those. `sharedWith`: shares the counters of another
   * record of the kind, which has some before the change; the change may delete that record. Omitted: keeps its counters; a new record has
   * none.
   */
  readonly counters?: { readonly usage: Usage } | { readonly sharedWith: string } | undefined;
}

/**
 * A change of the counters that a record has before the change. Changes of the same counters apply in order, also through records that
 * share them. The same change neither deletes the record nor replaces its counters.
 */
export interface CounterChange extends RecordAddress {
  readonly usage?: UsageChange | undefined;
  /** Names of the windows to keep; the others are deleted. Omitted: all stay. */
  readonly keepWindows?: readonly string[] | undefined;
  /** Names of windows to delete, even if `keepWindows` has them. */
  readonly dropWindows?: readonly string[] | undefined;
}

/**
 * One atomic change of a workspace: all or nothing. Checked in this order: expectations, claims (after the releases of the change, before
 * its deletions), counters. Then written: puts, then deletions. No record is in both, or twice.
 */
export interface Change {
  readonly expects: readonly Expectation[];
  readonly puts: readonly Put[];
  /** Counters are deleted with the last record that has them. A missing record is fine. */
  readonly deletes: readonly RecordAddress[];
  /** Taken if another existing record has the name. Deleted records have no names, even if they did not release them. */
  readonly claims: readonly (Claim & { readonly id: string })[];
  /** Names to free, if this record has them. */
  readonly releases: readonly (Claim & { readonly id: string })[];
  /** Lists to enter; being in one already is fine. */
  readonly enters: readonly ListEntry[];
  /** Lists to leave; not being in one is fine. */
  readonly leaves: readonly ListEntry[];
  readonly counters: readonly CounterChange[];
  /** Names of windows of the workspace to delete: those of limits without an owner. */
  readonly dropWindows: readonly string[];
  /** The new revision of the workspace: a whole number >= 1 that it never had. Null: unchanged. */
  readonly revision: number | null;
}

/** A {@link Change} under construction. */
export type ChangeDraft = {
  -readonly [Field in keyof Change]: Change[Field] extends readonly (infer Item)[]
    ? Item[]
    : Change[Field];
};

/** An empty change with its own lists, to add to. */
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

/** An empty change, to spread into others. */
export const EMPTY_CHANGE: Change = deepFrozen(emptyChange());

/** Result of a {@link Change}. Only `committed` wrote something. */
export type CommitResult =
  /** The use counter after each of `counters`, in their order. */
  | { readonly kind: "committed"; readonly usages: readonly Usage[] }
  /** `index`: the first of `expects` that does not hold. */
  | { readonly kind: "stale"; readonly index: number }
  /** `index`: the first of `claims` whose name is taken by a record or an earlier claim. */
  | { readonly kind: "taken"; readonly index: number }
  /** `index`: the first of `counters` that refuses. */
  | { readonly kind: "refused"; readonly index: number; readonly reason: UsageRefusal };
