import type { JsonValue } from "../lib/json.js";

/** Numbers of the kinds in database tables. They never change. */
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

/** Kind of a record. To a store it is just part of an address. */
export type RecordKind = keyof typeof KIND_CODE;

/** Every {@link RecordKind}. */
export const RECORD_KINDS = Object.keys(KIND_CODE) as readonly RecordKind[];

/** A record as a store keeps it. */
export interface StoredRecord {
  readonly kind: RecordKind;
  /** Unique in its workspace and kind: 1 to 128 ASCII characters without spaces. Lists are in ascending order of it. */
  readonly id: string;
  /**
   * A whole number from 1 to 2^53 − 1, drawn at random by core whenever processes must read the record again; not when only its counters
   * change. A higher version is not a later one. A store returns 0 for a version that it cannot read, and numbers entries of the audit log
   * itself: see `Put`.
   */
  readonly version: number;
  /** Id of the identity to return along with this record, whether or not it exists; null for none. */
  readonly link: string | null;
  /** A JSON value, deeply frozen, opaque to stores. `undefined` if the store cannot parse it. */
  readonly body: JsonValue | undefined;
  /**
   * Core's own cache, for stores that return the same frozen record repeatedly. Each version has its own. An accessor of the class, so that
   * copies lack it.
   */
  memo?: unknown;
}
