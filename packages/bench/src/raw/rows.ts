import type { Change, KeyStore } from "@latchkey/core";

/** What a change of latchkey writes, as rows of plain tables. */
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
  /** Null: it has none. */
  readonly remaining: number | null;
}

/** Where the same rows are written and read by hand, the fastest way that keeps them as safe. */
export interface RawStore {
  /** All of them or none. */
  write(rows: RawRows): Promise<void>;
  /** The records of a list after an id, with their bodies parsed. */
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

/** A store that hands every change on to `onChange` before it carries it out. */
export function recordingStore(store: KeyStore, onChange: (change: Change) => void): KeyStore {
  return {
    ...store,
    commit(workspaceId, change) {
      onChange(change);
      return store.commit(workspaceId, change);
    },
  };
}
