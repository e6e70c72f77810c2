import {
  CHANGE_TYPES,
  type ChangeFilter,
  type ChangeLog,
  type ChangeRecord,
  type FieldChange,
  type Removal,
} from "@latchkey/core";
import { Command, Query, type RawRow, type SqliteDatabase } from "./database.js";
import type { OnDemand } from "./on-demand.js";
import { damaged, json, list, nullable, object, readStored, text, whole } from "./values.js";

const COLUMNS =
  "id, workspace_id, type, at, actor, resource_id, key_id, identity_id, fields FROM latchkey_change";

export const CHANGE_SQL = {
  all: `SELECT ${COLUMNS} WHERE workspace_id = ? AND id < ? ORDER BY id DESC LIMIT ?`,
  ofKey: `SELECT ${COLUMNS} WHERE workspace_id = ? AND key_id = ? AND id < ?
    ORDER BY id DESC LIMIT ?`,
  ofIdentity: `SELECT ${COLUMNS} WHERE workspace_id = ? AND identity_id = ? AND id < ?
    ORDER BY id DESC LIMIT ?`,
  byActor: `SELECT ${COLUMNS} WHERE workspace_id = ? AND actor = ? AND id < ?
    ORDER BY id DESC LIMIT ?`,
  old: "SELECT seq FROM latchkey_change WHERE workspace_id = ? AND id < ? ORDER BY id LIMIT ?",
} as const;

/** Above every id: where the first page begins. */
const BEYOND_ALL = "\u{10ffff}";

const TYPES: ReadonlySet<unknown> = new Set(CHANGE_TYPES);

/** The audit log. Writes are to be called inside a write transaction. */
export class Changes {
  readonly #all: Query;
  readonly #ofKey: Query;
  readonly #ofIdentity: Query;
  readonly #byActor: Query;
  readonly #old: Query;
  readonly #insert: Command;
  readonly #delete: Command;

  constructor(database: SqliteDatabase) {
    this.#all = new Query(database, CHANGE_SQL.all);
    this.#ofKey = new Query(database, CHANGE_SQL.ofKey);
    this.#ofIdentity = new Query(database, CHANGE_SQL.ofIdentity);
    this.#byActor = new Query(database, CHANGE_SQL.byActor);
    this.#old = new Query(database, CHANGE_SQL.old);
    this.#insert = new Command(
      database,
      `INSERT INTO latchkey_change
        (id, workspace_id, type, at, actor, resource_id, key_id, identity_id, fields)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#delete = new Command(database, "DELETE FROM latchkey_change WHERE seq = ?");
  }

  /** Writes the entries that hold, now that the change was made in the same transaction. */
  write(log: ChangeLog, onDemand: OnDemand): void {
    for (const { change, ifCreated } of log) {
      if (ifCreated && !onDemand.hasCreated(change.resourceId)) continue;
      this.#insert.run(
        change.id,
        change.workspaceId,
        change.type,
        change.at,
        change.actor,
        change.resourceId,
        change.keyId,
        change.identityId === null ? null : onDemand.linkedInstead(change.identityId),
        JSON.stringify(change.fields),
      );
    }
  }

  list(
    workspaceId: string,
    filter: ChangeFilter,
    { beforeId, limit }: { readonly beforeId: string | null; readonly limit: number },
  ): { readonly items: readonly ChangeRecord[]; readonly hasMore: boolean } {
    const rows = this.#rows(workspaceId, filter, beforeId ?? BEYOND_ALL, limit + 1);
    return { items: rows.slice(0, limit).map(changeRecord), hasMore: rows.length > limit };
  }

  /** Forgets up to `limit` entries with an id below `beforeId`, the oldest first. */
  delete(workspaceId: string, beforeId: string, limit: number): Removal {
    const rows = this.#old.all(workspaceId, beforeId, limit + 1);
    const old = rows.slice(0, limit);
    for (const [seq] of old) this.#delete.run(seq);
    return { deleted: old.length, hasMore: rows.length > limit };
  }

  #rows(workspaceId: string, filter: ChangeFilter, beforeId: string, limit: number): RawRow[] {
    switch (filter.kind) {
      case "all":
        return this.#all.all(workspaceId, beforeId, limit);
      case "key":
        return this.#ofKey.all(workspaceId, filter.keyId, beforeId, limit);
      case "identity":
        return this.#ofIdentity.all(workspaceId, filter.identityId, beforeId, limit);
      case "actor":
        return this.#byActor.all(workspaceId, filter.actor, beforeId, limit);
      default:
        return filter satisfies never;
    }
  }
}

function changeRecord(row: RawRow): ChangeRecord {
  return readStored("change", row[0], () => ({
    id: text(row[0]),
    workspaceId: text(row[1]),
    type: TYPES.has(row[2]) ? (row[2] as ChangeRecord["type"]) : damaged(),
    at: whole(row[3]),
    actor: nullable(row[4], text),
    resourceId: text(row[5]),
    keyId: nullable(row[6], text),
    identityId: nullable(row[7], text),
    fields: list(json(row[8]), fieldChange),
  }));
}

function fieldChange(value: unknown): FieldChange {
  const { field, ...values } = object(value);
  return { field: text(field), ...values };
}
