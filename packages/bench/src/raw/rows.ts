import type { Change, KeyStore } from "@latchkey/core";

/** The rows of a change of latchkey, for plain tables. */
export interface RawRows {
  readonly records: readonly RawRecord[];
  readonly claims: readonly { readonly name: string; readonly id: string }[];
  readonly entries: readonly { readonly list: string; readonly id: string }[];
}

/** A record with its counter. */
export interface RawRecord {
  readonly id: string;
  readonly kind: string;
  readonly version: number;
  readonly link: string | null;
  readonly body: object;
  /** Null: the record has no counter. */
  readonly remaining: number | null;
}

/** A store that writes and reads the same rows with hand-written code, as fast as possible with the same durability. */
export interface RawStore {
  /** Writes all rows or none. */
  write(rows: RawRows): Promise<void>;
  /** The first `limit` records of a list after an id, with parsed bodies. */
  page(list: string, after: string, limit: number): Promise<readonly RawRecord[]>;
}

/** The rows that a change writes. */
export function rowsOf({ puts, claims, enters }: Change): RawRows {
  return {
    records: puts.map(({ record: { id, kind, version, link, body }, counters }) => ({
      id,
      kind,
      version,
      link,
      body: body as object,
      remaining:
        counters !== undefined && "usage" in counters ? (counters.usage.remaining ?? -1) : null,
    })),
    claims: claims.map(({ kind, index, value, id }) => ({ name: `${kind}:${index}:${value}`, id })),
    entries: enters.map(({ list, of, id }) => ({
      list: of === undefined ? list : `${list}:${of}`,
      id,
    })),
  };
}

/** A store that passes every change to `onChange` before it commits it. */
export function recordingStore(store: KeyStore, onChange: (change: Change) => void): KeyStore {
  return {
    ...store,
    commit(workspaceId, change) {
      onChange(change);
      return store.commit(workspaceId, change);
    },
  };
}
