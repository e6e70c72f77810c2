import type {
  IdentityLookup,
  IdentityPatch,
  IdentityRecord,
  Page,
  PageRequest,
  RateLimit,
} from "@latchkey/core";
import { Command, Query, type RawRow, type SqliteDatabase } from "./database.js";
import { IDENTITY_COLUMNS, identityRecord } from "./records.js";
import { readStored, whole } from "./values.js";
import { decodeWindows, encodeWindows, keptWindows } from "./windows.js";

export const IDENTITY_SQL = {
  byId: `SELECT ${IDENTITY_COLUMNS} FROM latchkey_identity WHERE id = ? AND workspace_id = ?`,
  byExternalId: `SELECT ${IDENTITY_COLUMNS} FROM latchkey_identity
    WHERE workspace_id = ? AND external_id = ?`,
  page: `SELECT ${IDENTITY_COLUMNS} FROM latchkey_identity
    WHERE workspace_id = ? AND id > ? ORDER BY id LIMIT ?`,
  total: "SELECT identity_count FROM latchkey_workspace WHERE id = ?",
} as const;

/** Identities. Writes are to be called inside a write transaction. */
export class Identities {
  readonly #byId: Query;
  readonly #byExternalId: Query;
  readonly #page: Query;
  readonly #total: Query;
  readonly #insert: Command;
  readonly #count: Command;
  readonly #findState: Query;
  readonly #raiseVersion: Command;
  readonly #setMeta: Command;
  readonly #setRatelimits: Command;
  readonly #setWindows: Command;

  constructor(database: SqliteDatabase) {
    this.#byId = new Query(database, IDENTITY_SQL.byId);
    this.#byExternalId = new Query(database, IDENTITY_SQL.byExternalId);
    this.#page = new Query(database, IDENTITY_SQL.page);
    this.#total = new Query(database, IDENTITY_SQL.total);
    this.#insert = new Command(
      database,
      `INSERT INTO latchkey_identity
        (id, workspace_id, external_id, meta, ratelimits, created_at, version)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#count = new Command(
      database,
      `INSERT INTO latchkey_workspace (id, identity_count) VALUES (?, 1)
        ON CONFLICT (id) DO UPDATE SET identity_count = identity_count + 1`,
    );
    this.#findState = new Query(
      database,
      `SELECT i.seq, i.version, coalesce(u.windows, '[]')
        FROM latchkey_identity i LEFT JOIN latchkey_identity_usage u ON u.identity_seq = i.seq
        WHERE i.id = ? AND i.workspace_id = ?`,
    );
    this.#raiseVersion = new Command(
      database,
      "UPDATE latchkey_identity SET version = version + 1 WHERE seq = ?",
    );
    this.#setMeta = new Command(database, "UPDATE latchkey_identity SET meta = ? WHERE seq = ?");
    this.#setRatelimits = new Command(
      database,
      "UPDATE latchkey_identity SET ratelimits = ? WHERE seq = ?",
    );
    this.#setWindows = new Command(
      database,
      "UPDATE latchkey_identity_usage SET windows = ? WHERE identity_seq = ?",
    );
  }

  get(workspaceId: string, lookup: IdentityLookup): IdentityRecord | null {
    const row =
      "identityId" in lookup
        ? this.#byId.first(lookup.identityId, workspaceId)
        : this.#byExternalId.first(workspaceId, lookup.externalId);
    return row === undefined ? null : identityRecord(row);
  }

  /** To be called on one snapshot. */
  list(workspaceId: string, { afterId, limit }: PageRequest): Page<IdentityRecord> {
    const rows = this.#page.all(workspaceId, afterId ?? "", limit + 1);
    return {
      items: rows.slice(0, limit).map(identityRecord),
      hasMore: rows.length > limit,
      total: totalOf("workspace", workspaceId, this.#total.first(workspaceId)),
    };
  }

  insert(identity: IdentityRecord): "inserted" | "external-id-taken" {
    const { workspaceId, externalId } = identity;
    if (this.#byExternalId.first(workspaceId, externalId) !== undefined) return "external-id-taken";
    this.#insert.run(
      identity.id,
      workspaceId,
      externalId,
      JSON.stringify(identity.meta),
      encodeRatelimits(identity.ratelimits),
      identity.createdAt,
      identity.version,
    );
    this.#count.run(workspaceId);
    return "inserted";
  }

  /** Id of the identity with the candidate's `externalId`; the candidate is written where there is none. */
  findOrInsert(candidate: IdentityRecord): string {
    const { workspaceId, externalId } = candidate;
    const known = this.get(workspaceId, { externalId });
    if (known !== null) return known.id;
    this.insert(candidate);
    return candidate.id;
  }

  update(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    { meta, ratelimits }: IdentityPatch,
  ): "updated" | "not-found" | "stale" {
    const row = this.#findState.first(identityId, workspaceId);
    if (row === undefined) return "not-found";
    const { seq, version, windows } = readStored("identity", identityId, () => ({
      seq: whole(row[0]),
      version: whole(row[1]),
      windows: decodeWindows(row[2]),
    }));
    if (version !== expectedVersion) return "stale";
    if (meta !== undefined) this.#setMeta.run(JSON.stringify(meta), seq);
    if (ratelimits !== undefined) {
      this.#setRatelimits.run(encodeRatelimits(ratelimits), seq);
      this.#setWindows.run(encodeWindows(keptWindows(windows, ratelimits)), seq);
    }
    this.#raiseVersion.run(seq);
    return "updated";
  }
}

/** A maintained count; 0 where there is no row to keep it in. */
export function totalOf(kind: string, id: string, row: RawRow | undefined): number {
  return row === undefined ? 0 : readStored(kind, id, () => whole(row[0]));
}

function encodeRatelimits(limits: readonly RateLimit[]): string {
  return JSON.stringify(limits.map(({ name, limit, durationMs }) => ({ name, limit, durationMs })));
}
