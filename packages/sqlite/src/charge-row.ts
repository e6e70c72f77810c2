import type { Usage } from "@latchkey/core";
import type { StoredCounters } from "./counters.js";
import type { RawRow } from "./database.js";
import { flag, nullable, readStored, text, whole } from "./values.js";
import { decodeWindows, type StoredWindows } from "./windows.js";

/** What a charge needs of one key's row, of its identity's version and of its workspace's epoch. */
export interface ChargeRow {
  readonly seq: number;
  readonly workspaceId: string;
  readonly identityId: string | null;
  /** Number of the identity's counters; null without one, and where the one that is named does not exist. */
  readonly identityCountersSeq: number | null;
  readonly keyVersion: number;
  readonly identityVersion: number | null;
  readonly epoch: number;
  readonly countersSeq: number;
  /** Whether a charge of another key may move the counters. */
  readonly isShared: boolean;
  readonly usage: Usage;
  /** Windows of the key's configured limits. */
  readonly windows: StoredWindows;
  /**
   * The generation of the `ChargeMemo` that it was read or written in; {@link UNKNOWN} where counters are shared, since
   * nothing that is kept of one key tells of charges of another.
   */
  readonly generation: number;
}

/** The generation of rows that may be old a moment after they were read. Equal to none, not even to itself. */
export const UNKNOWN = Number.NaN;

const ROW = `SELECT k.seq, k.workspace_id, k.identity_id, k.version, u.remaining, u.refilled_at, u.windows,
  w.epoch, i.version, i.counters_seq, k.is_counted, k.counters_seq, k.counters_id IS NOT NULL
  FROM latchkey_key k
  LEFT JOIN latchkey_counters u ON u.seq = CASE WHEN k.is_counted THEN k.counters_seq END
  LEFT JOIN latchkey_workspace w ON w.id = k.workspace_id
  LEFT JOIN latchkey_identity i ON i.id = k.identity_id AND i.workspace_id = k.workspace_id`;

export const CHARGE_SQL = {
  byId: `${ROW} WHERE k.id = ? AND k.deleted_at IS NULL`,
  bySeq: `${ROW} WHERE k.seq = ? AND k.id = ? AND k.deleted_at IS NULL`,
} as const;

/** Without a number of uses no refill is ever settled: up to when they are does not matter. */
const UNCOUNTED: StoredCounters = { usage: { remaining: null, refilledAt: 0 }, windows: [] };

/** @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written. */
export function chargeRow(keyId: string, row: RawRow, generation: number): ChargeRow {
  return readStored("key", keyId, () => {
    const isShared = flag(row[12]);
    return {
      seq: whole(row[0]),
      workspaceId: text(row[1]),
      identityId: nullable(row[2], text),
      keyVersion: whole(row[3]),
      ...(flag(row[10]) ? countersOf(row) : UNCOUNTED),
      epoch: nullable(row[7], whole) ?? 0,
      identityVersion: nullable(row[8], whole),
      identityCountersSeq: nullable(row[9], whole),
      countersSeq: whole(row[11]),
      isShared,
      generation: isShared ? UNKNOWN : generation,
    };
  });
}

function countersOf(row: RawRow): StoredCounters {
  return {
    usage: { remaining: nullable(row[4], whole), refilledAt: whole(row[5]) },
    windows: decodeWindows(row[6]),
  };
}
