import type { WorkspaceRecord } from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { workspaceRecord } from "./records.js";
import { readStored, whole } from "./values.js";

/** What is counted for each workspace, so that `total` needs no scan. */
export type CountedList = "apis" | "identities" | "rootKeys";

/** Workspaces, and how much is in them. Writes are to be called inside a write transaction. */
export class Workspaces {
  readonly #find: Query;
  readonly #findWritten: Query;
  readonly #insert: Command;
  readonly #setEnabled: Command;
  readonly #raiseEpoch: Command;
  readonly #counts: Readonly<Record<CountedList, Count>>;

  constructor(database: SqliteDatabase) {
    const command = (sql: string) => new Command(database, sql);
    this.#find = new Query(
      database,
      "SELECT name, enabled, epoch FROM latchkey_workspace WHERE id = ?",
    );
    this.#findWritten = new Query(
      database,
      "SELECT 1 FROM latchkey_workspace WHERE id = ? AND is_written = 1",
    );
    // Where something was in the workspace before, decisions may have been made on it as it was untouched.
    this.#insert = command(
      `INSERT INTO latchkey_workspace (id, name, is_written, enabled, epoch) VALUES (?, ?, 1, ?, ?)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, is_written = 1,
        enabled = excluded.enabled, epoch = CASE WHEN epoch = 0 AND api_count = 0
          THEN excluded.epoch ELSE max(excluded.epoch, epoch + 1) END`,
    );
    this.#setEnabled = command(
      `INSERT INTO latchkey_workspace (id, is_written, enabled, epoch) VALUES (?, 1, ?, 1)
        ON CONFLICT (id) DO UPDATE SET is_written = 1, enabled = excluded.enabled,
        epoch = epoch + 1`,
    );
    this.#raiseEpoch = command(
      `INSERT INTO latchkey_workspace (id, epoch) VALUES (?, 1)
        ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1`,
    );
    this.#counts = {
      apis: new Count(database, "api_count"),
      identities: new Count(database, "identity_count"),
      rootKeys: new Count(database, "root_key_count"),
    };
  }

  get(workspaceId: string): WorkspaceRecord {
    return workspaceRecord(workspaceId, this.#find.first(workspaceId));
  }

  insert({ id, name, enabled, epoch }: WorkspaceRecord): "inserted" | "taken" {
    if (this.#findWritten.first(id) !== undefined) return "taken";
    this.#insert.run(id, name, enabled ? 1 : 0, epoch);
    return "inserted";
  }

  setEnabled(workspaceId: string, enabled: boolean): void {
    this.#setEnabled.run(workspaceId, enabled ? 1 : 0);
  }

  /** Makes every verification in the workspace load its key anew. */
  raiseEpoch(workspaceId: string): void {
    this.#raiseEpoch.run(workspaceId);
  }

  /** Says that a list has one item more, or one less. */
  count(list: CountedList, workspaceId: string, by: 1 | -1): void {
    this.#counts[list].add(workspaceId, by);
  }

  /** How many items a list has. */
  total(list: CountedList, workspaceId: string): number {
    return this.#counts[list].get(workspaceId);
  }
}

/** One maintained count of every workspace. */
class Count {
  readonly #get: Query;
  readonly #raise: Command;
  readonly #lower: Command;

  constructor(database: SqliteDatabase, column: "api_count" | "identity_count" | "root_key_count") {
    this.#get = new Query(database, `SELECT ${column} FROM latchkey_workspace WHERE id = ?`);
    this.#raise = new Command(
      database,
      `INSERT INTO latchkey_workspace (id, ${column}) VALUES (?, 1)
        ON CONFLICT (id) DO UPDATE SET ${column} = ${column} + 1`,
    );
    this.#lower = new Command(
      database,
      `UPDATE latchkey_workspace SET ${column} = ${column} - 1 WHERE id = ?`,
    );
  }

  add(workspaceId: string, by: 1 | -1): void {
    (by === 1 ? this.#raise : this.#lower).run(workspaceId);
  }

  /** 0 where the workspace was never touched. */
  get(workspaceId: string): number {
    const row = this.#get.first(workspaceId);
    return row === undefined ? 0 : readStored("workspace", workspaceId, () => whole(row[0]));
  }
}
