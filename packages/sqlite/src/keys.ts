import {
  changeUsage,
  type InsertKeyResult,
  type KeyPatch,
  type KeyRecord,
  type NewKey,
  type UpdateKeyResult,
} from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import type { GrantTables } from "./grants.js";
import type { Identities } from "./identities.js";
import { KeyFields } from "./key-fields.js";
import { IS_LIVE_KEY } from "./records.js";
import { nullable, readStored, whole } from "./values.js";
import { decodeWindows, encodeWindows, keptWindows } from "./windows.js";

export const KEY_WRITE_SQL = {
  findApi: "SELECT 1 FROM latchkey_api WHERE id = ? AND workspace_id = ? AND is_live = 1",
  findHash: "SELECT 1 FROM latchkey_key WHERE hash = ? AND workspace_id = ? AND deleted_at IS NULL",
  findState: `SELECT k.seq, k.version, u.remaining, u.refilled_at, u.windows, k.api_id,
    k.sealed_secret IS NOT NULL
    FROM latchkey_key k LEFT JOIN latchkey_usage u ON u.key_seq = k.seq
    WHERE k.id = ? AND k.workspace_id = ? AND ${IS_LIVE_KEY}`,
  findSome: `SELECT k.seq, k.sealed_secret IS NOT NULL FROM latchkey_key k
    WHERE k.api_id = ? AND k.workspace_id = ? AND k.deleted_at IS NULL ORDER BY k.id LIMIT ?`,
} as const;

/** Writes of keys. All of it is to be called inside a write transaction. */
export class Keys {
  readonly #identities: Identities;
  readonly #grants: GrantTables;
  readonly #fields: KeyFields;
  readonly #findApi: Query;
  readonly #findHash: Query;
  readonly #findState: Query;
  readonly #findSome: Query;
  readonly #insert: Command;
  readonly #insertUsage: Command;
  readonly #count: Command;
  readonly #delete: Command;
  readonly #deleteUsage: Command;

  constructor(database: SqliteDatabase, identities: Identities, grants: GrantTables) {
    this.#identities = identities;
    this.#grants = grants;
    this.#fields = new KeyFields(database);
    this.#findApi = new Query(database, KEY_WRITE_SQL.findApi);
    this.#findHash = new Query(database, KEY_WRITE_SQL.findHash);
    this.#findState = new Query(database, KEY_WRITE_SQL.findState);
    this.#findSome = new Query(database, KEY_WRITE_SQL.findSome);
    this.#insert = new Command(
      database,
      `INSERT INTO latchkey_key (version, is_counted, id, workspace_id, api_id,
        identity_id, hash, start, name, created_at, updated_at, expires_at, switched_on,
        refill_interval, refill_amount, refill_day, environment, ratelimits, sealed_secret, meta)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertUsage = new Command(
      database,
      "INSERT INTO latchkey_usage (key_seq, remaining, refilled_at, windows) VALUES (?, ?, ?, '[]')",
    );
    this.#count = new Command(
      database,
      "UPDATE latchkey_api SET key_count = key_count + ? WHERE id = ?",
    );
    this.#delete = new Command(
      database,
      "UPDATE latchkey_key SET deleted_at = ?, sealed_secret = NULL WHERE seq = ?",
    );
    this.#deleteUsage = new Command(database, "DELETE FROM latchkey_usage WHERE key_seq = ?");
  }

  insert({ key, usage, identity, grants }: NewKey): InsertKeyResult {
    if (this.#findApi.first(key.apiId, key.workspaceId) === undefined) {
      return { kind: "api-not-found" };
    }
    if (this.#findHash.first(key.hash, key.workspaceId) !== undefined)
      return { kind: "hash-taken" };
    const resolved = this.#grants.resolve(key.workspaceId, grants);
    if (resolved.kind === "missing-grants") return resolved;
    const seq = this.#insert.insert(
      key.version,
      usage.remaining !== null || key.ratelimits.length > 0 ? 1 : 0,
      key.id,
      key.workspaceId,
      key.apiId,
      identity === null ? key.identityId : this.#identities.findOrInsert(identity),
      key.hash,
      key.start,
      key.name,
      key.createdAt,
      key.updatedAt,
      key.expiresAt,
      key.switchedOn ? 1 : 0,
      ...refillColumns(key.refill),
      key.environment,
      encodeKeyRatelimits(key.ratelimits),
      key.sealedSecret,
      key.meta === null ? null : JSON.stringify(key.meta),
    );
    this.#insertUsage.run(seq, usage.remaining, usage.refilledAt);
    resolved.commit(seq);
    this.#count.run(1, key.apiId);
    return { kind: "inserted" };
  }

  update(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
  ): UpdateKeyResult {
    const stored = this.#stateOf(workspaceId, keyId);
    if (stored === null) return { kind: "not-found" };
    if (stored.version !== expectedVersion) return { kind: "stale" };
    const change = patch.usage && changeUsage(stored.usage, patch.usage);
    if (change && change.kind !== "changed") return { kind: "usage-refused", reason: change };
    const resolved = this.#grants.resolve(workspaceId, patch.grants ?? {});
    if (resolved.kind === "missing-grants") return resolved;

    const { seq } = stored;
    resolved.commit(seq);
    const usage = change?.usage ?? stored.usage;
    if (change) this.#fields.setUsage(seq, usage);
    if (patch.ratelimits !== undefined) {
      const kept = encodeWindows(keptWindows(stored.windows, patch.ratelimits));
      this.#fields.setRatelimits(seq, encodeKeyRatelimits(patch.ratelimits), kept);
    }
    if (usage.remaining !== null || (patch.ratelimits?.length ?? 0) > 0) this.#fields.count(seq);
    if (patch.identity !== undefined) {
      const { identity } = patch;
      const identityId = identity === null ? null : this.#identities.findOrInsert(identity);
      this.#fields.set(seq, "identity", identityId);
    }
    if (patch.refill !== undefined) this.#fields.setRefill(seq, refillColumns(patch.refill));
    this.#setPlainFields(seq, patch);
    if (hasConfiguration(patch)) this.#fields.raiseVersion(seq);
    return { kind: "updated", usage };
  }

  /** @returns Whether an encrypted secret was erased with the key; null where there is no such key. */
  delete(workspaceId: string, keyId: string, deletedAt: number): { hadSecret: boolean } | null {
    const stored = this.#stateOf(workspaceId, keyId);
    if (stored === null) return null;
    this.#remove(stored.seq, deletedAt);
    this.#count.run(-1, stored.apiId);
    return { hadSecret: stored.hasSecret };
  }

  /** Deletes up to `limit` keys of an API, whether or not the API itself still lives. */
  deleteSome(workspaceId: string, apiId: string, limit: number, deletedAt: number) {
    const rows = this.#findSome.all(apiId, workspaceId, limit + 1);
    const deleted = rows.slice(0, limit);
    for (const [seq] of deleted) this.#remove(whole(seq), deletedAt);
    if (deleted.length > 0) this.#count.run(-deleted.length, apiId);
    return {
      deleted: deleted.length,
      hasMore: rows.length > limit,
      hadSecret: deleted.some(([, hasSecret]) => hasSecret === 1),
    };
  }

  #remove(seq: number, deletedAt: number): void {
    this.#grants.unlinkAll(seq);
    this.#deleteUsage.run(seq);
    this.#delete.run(deletedAt, seq);
  }

  #setPlainFields(seq: number, patch: KeyPatch): void {
    const { name, meta, updatedAt, expiresAt, switchedOn, environment, sealedSecret } = patch;
    const fields = this.#fields;
    if (name !== undefined) fields.set(seq, "name", name);
    if (meta !== undefined) fields.set(seq, "meta", meta === null ? null : JSON.stringify(meta));
    if (updatedAt !== undefined) fields.set(seq, "updatedAt", updatedAt);
    if (expiresAt !== undefined) fields.set(seq, "expiresAt", expiresAt);
    if (switchedOn !== undefined) fields.set(seq, "switchedOn", switchedOn ? 1 : 0);
    if (environment !== undefined) fields.set(seq, "environment", environment);
    if (sealedSecret !== undefined) fields.set(seq, "sealedSecret", sealedSecret);
  }

  #stateOf(workspaceId: string, keyId: string) {
    const row = this.#findState.first(keyId, workspaceId);
    if (row === undefined) return null;
    return readStored("key", keyId, () => ({
      seq: whole(row[0]),
      version: whole(row[1]),
      usage: { remaining: nullable(row[2], whole), refilledAt: whole(row[3]) },
      windows: decodeWindows(row[4]),
      apiId: row[5],
      hasSecret: row[6] === 1,
    }));
  }
}

/** Counters and the instant of the change are no configuration. A field that is given counts as changed. */
function hasConfiguration({ usage: _usage, updatedAt: _updatedAt, ...fields }: KeyPatch): boolean {
  return Object.values(fields).some((field) => field !== undefined);
}

function refillColumns(refill: KeyRecord["refill"]): readonly (string | number | null)[] {
  if (refill === null) return [null, null, null];
  return [refill.interval, refill.amount, refill.interval === "monthly" ? refill.refillDay : null];
}

function encodeKeyRatelimits(limits: KeyRecord["ratelimits"]): string {
  return JSON.stringify(
    limits.map(({ name, limit, durationMs, type, async }) => ({
      name,
      limit,
      durationMs,
      type,
      async,
    })),
  );
}
