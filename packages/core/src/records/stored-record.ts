import type { JsonValue } from "../lib/json.js";

/** What tables hold for a kind of record. Never changed: databases have it. */
export const KIND_CODE = {
  workspace: 1,
  api: 2,
  key: 3,
  identity: 4,
  role: 5,
  permission: 6,
  rootKey: 7,
  rootKeyPointer: 8,
  auditEntry: 9,
  rememberedAnswer: 10,
  deadline: 11,
  delivery: 12,
  sender: 13,
  noticed: 14,
  portalSession: 15,
  tag: 16,
} as const;

/** What a record is of. To a store it is part of an address, and nothing else. */
export type RecordKind = keyof typeof KIND_CODE;

/** Every {@link RecordKind}. */
export const RECORD_KINDS = Object.keys(KIND_CODE) as readonly RecordKind[];

/** A record as a store keeps it. */
export interface StoredRecord {
  readonly kind: RecordKind;
  /** Unique in its workspace and kind: 1 to 128 ASCII characters without spaces. Lists are in ascending order of it. */
  readonly id: string;
  /**
   * Drawn by core: a whole number from 1 to 2^53 − 1. It is another one whenever a process that knows the record must read it again,
   * and the same when only its counters move. A higher one is no later one. A store that cannot read what it holds answers 0. That of an
   * entry of the audit log is its number, and given by the store: see `Put`.
   */
  readonly version: number;
  /** Id of the identity that is answered along with this record, whether or not that exists; null for none. */
  readonly link: string | null;
  /**
   * A JSON value, deeply frozen. No store looks into it. A store that keeps text and cannot parse what it holds answers
   * `undefined`: core says what that means.
   */
  readonly body: JsonValue | undefined;
  /**
   * Only of a store that hands out the same frozen record again and again: what core keeps with it, and no store looks at. Another
   * record, another version too, has another. An accessor of the class, so that no copy brings it.
   */
  memo?: unknown;
}
