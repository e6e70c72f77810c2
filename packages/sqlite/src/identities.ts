import {
  changeUsage,
  type IdentityLookup,
  type IdentityPatch,
  type IdentityRecord,
  type LoadedIdentity,
  type Page,
  type PageRequest,
  type UpdateIdentityResult,
  type Usage,
} from "@latchkey/core";
import type { Counters } from "./counters.js";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { encodeIdentityLimits } from "./limits.js";
import type { OnDemand } from "./on-demand.js";
import { IDENTITY_COLUMNS, loadedIdentity } from "./records.js";
import { refillColumns } from "./refill.js";
import { readStored, text, whole } from "./values.js";
import { keptWindows } from "./windows.js";
import type { Workspaces } from "./workspaces.js";

const LOADED = `SELECT ${IDENTITY_COLUMNS} FROM latchkey_identity i
  LEFT JOIN latchkey_counters iu ON iu.seq = i.counters_seq`;

export const IDENTITY_SQL = {
  byId: `${LOADED} WHERE i.workspace_id = ? AND i.id = ?`,
  byExternalId: `${LOADED} WHERE i.workspace_id = ? AND i.external_id = ?`,
  page: `${LOADED} WHERE i.workspace_id = ? AND i.id > ? ORDER BY i.id LIMIT ?`,
  idOf: "SELECT id FROM latchkey_identity WHERE workspace_id = ? AND external_id = ?",
  state: `SELECT seq, version, counters_seq FROM latchkey_identity
    WHERE workspace_id = ? AND id = ?`,
} as const;

/** Identities. Writes are to be called inside a write transaction. */
export class Identities {
  readonly #workspaces: Workspaces;
  readonly #counters: Counters;
  readonly #byId: Query;
  readonly #byExternalId: Query;
  readonly #page: Query;
  readonly #idOf: Query;
  readonly #state: Query;
  readonly #insert: Command;
  readonly #raiseVersion: Command;
  readonly #setMeta: Command;
  readonly #setRatelimits: Command;
  readonly #setRefill: Command;
  readonly #delete: Command;

  constructor(database: SqliteDatabase, workspaces: Workspaces, counters: Counters) {
    this.#workspaces = workspaces;
    this.#counters = counters;
    this.#byId = new Query(database, IDENTITY_SQL.byId);
    this.#byExternalId = new Query(database, IDENTITY_SQL.byExternalId);
    this.#page = new Query(database, IDENTITY_SQL.page);
    this.#idOf = new Query(database, IDENTITY_SQL.idOf);
    this.#state = new Query(database, IDENTITY_SQL.state);
    const command = (sql: string) => new Command(database, sql);
    this.#insert = command(
      `INSERT INTO latchkey_identity (version, counters_seq, id, workspace_id, external_id,
        created_at, refill_interval, refill_amount, refill_day, ratelimits, meta)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#raiseVersion = command(
      "UPDATE latchkey_identity SET version = version + 1 WHERE seq = ?",
    );
    this.#setMeta = command("UPDATE latchkey_identity SET meta = ? WHERE seq = ?");
    this.#setRatelimits = command("UPDATE latchkey_identity SET ratelimits = ? WHERE seq = ?");
    this.#setRefill = command(
      `UPDATE latchkey_identity SET refill_interval = ?, refill_amount = ?, refill_day = ?
        WHERE seq = ?`,
    );
    this.#delete = command("DELETE FROM latchkey_identity WHERE seq = ?");
  }

  get(workspaceId: string, lookup: IdentityLookup): LoadedIdentity | null {
    const row =
      "identityId" in lookup
        ? this.#byId.first(workspaceId, lookup.identityId)
        : this.#byExternalId.first(workspaceId, lookup.externalId);
    return row === undefined ? null : loadedIdentity(row);
  }

  /** Whether there is an identity with this id. */
  has(workspaceId: string, identityId: string): boolean {
    return this.#state.first(workspaceId, identityId) !== undefined;
  }

  /** To be called on one snapshot. */
  list(workspaceId: string, { afterId, limit }: PageRequest): Page<LoadedIdentity> {
    const rows = this.#page.all(workspaceId, afterId ?? "", limit + 1);
    return {
      items: rows.slice(0, limit).map((row) => loadedIdentity(row)),
      hasMore: rows.length > limit,
      total: this.#workspaces.total("identities", workspaceId),
    };
  }

  insert(identity: IdentityRecord, usage: Usage): "inserted" | "external-id-taken" {
    const { workspaceId, externalId } = identity;
    if (this.#idOf.first(workspaceId, externalId) !== undefined) return "external-id-taken";
    this.#insert.run(
      identity.version,
      this.#counters.insert(usage),
      identity.id,
      workspaceId,
      externalId,
      identity.createdAt,
      ...refillColumns(identity.refill),
      encodeIdentityLimits(identity.ratelimits),
      JSON.stringify(identity.meta),
    );
    this.#workspaces.count("identities", workspaceId, 1);
    return "inserted";
  }

  /** Id of the identity with the candidate's `externalId`; the candidate is written where there is none. */
  findOrInsert(candidate: IdentityRecord, onDemand: OnDemand): string {
    const { id, workspaceId, externalId, createdAt } = candidate;
    const row = this.#idOf.first(workspaceId, externalId);
    if (row !== undefined) {
      const known = readStored("identity", row[0], () => text(row[0]));
      onDemand.link(id, known);
      return known;
    }
    this.insert(candidate, { remaining: null, refilledAt: createdAt });
    onDemand.created.push(id);
    return id;
  }

  update(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    patch: IdentityPatch,
  ): UpdateIdentityResult {
    const stored = this.#stateOf(workspaceId, identityId);
    if (stored === null) return { kind: "not-found" };
    if (stored.version !== expectedVersion) return { kind: "stale" };
    const { seq, countersSeq } = stored;
    const before = this.#counters.get(countersSeq, "identity", identityId);
    const change = patch.usage && changeUsage(before.usage, patch.usage);
    if (change && change.kind !== "changed") return { kind: "usage-refused", reason: change };

    const { meta, ratelimits, refill } = patch;
    const usage = change?.usage ?? before.usage;
    if (change || ratelimits !== undefined) {
      const { windows } = before;
      this.#counters.set(
        countersSeq,
        usage,
        ratelimits ? keptWindows(windows, ratelimits) : windows,
      );
    }
    if (meta !== undefined) this.#setMeta.run(JSON.stringify(meta), seq);
    if (ratelimits !== undefined) this.#setRatelimits.run(encodeIdentityLimits(ratelimits), seq);
    if (refill !== undefined) this.#setRefill.run(...refillColumns(refill), seq);
    if (meta !== undefined || ratelimits !== undefined || refill !== undefined) {
      this.#raiseVersion.run(seq);
    }
    return { kind: "updated", usage };
  }

  /** Removes it with its counters. Its keys still name its id, which nothing will ever go by. */
  delete(workspaceId: string, identityId: string): "deleted" | "not-found" {
    const stored = this.#stateOf(workspaceId, identityId);
    if (stored === null) return "not-found";
    this.#delete.run(stored.seq);
    this.#counters.delete(stored.countersSeq);
    this.#workspaces.count("identities", workspaceId, -1);
    return "deleted";
  }

  #stateOf(workspaceId: string, identityId: string) {
    const row = this.#state.first(workspaceId, identityId);
    if (row === undefined) return null;
    return readStored("identity", identityId, () => ({
      seq: whole(row[0]),
      version: whole(row[1]),
      countersSeq: whole(row[2]),
    }));
  }
}
