import type { Claim, LoadedRecord, ReadResult, RecordAddress, Want } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { prepareQuery, type Row, type SqliteStatement } from "./engine/database.js";
import { claimName, storedValue } from "./engine/names.js";
import {
  BESIDE,
  KIND_CODE,
  keepLoaded,
  LOADED,
  loadedRecord,
  REVISION_AT,
  wholeOr0,
} from "./stored-record.js";

export const READ_SQL = {
  byId: `${LOADED} FROM latchkey_record r ${BESIDE} WHERE r.workspace = ? AND r.kind = ? AND r.id = ?`,
  byClaim: `${LOADED} FROM latchkey_record r ${BESIDE}
    WHERE r.seq = (SELECT record FROM latchkey_claim WHERE name = ? AND value = ?)`,
  revision: "SELECT revision FROM latchkey_workspace WHERE id = ?",
} as const;

/** Reads records by id and by claim. */
export class Reading {
  readonly #connection: Connection;
  readonly #byId: SqliteStatement;
  readonly #byClaim: SqliteStatement;
  readonly #revision: SqliteStatement;

  constructor(connection: Connection) {
    const { database } = connection;
    this.#connection = connection;
    this.#byId = prepareQuery(database, READ_SQL.byId);
    this.#byClaim = prepareQuery(database, READ_SQL.byClaim);
    this.#revision = prepareQuery(database, READ_SQL.revision);
  }

  read(workspaceId: string, wants: readonly Want[]): ReadResult {
    const [want] = wants;
    if (want !== undefined && wants.length === 1) {
      // One statement is a snapshot of its own, and says the revision along with the record.
      const { names, memo } = this.#connection;
      const workspace = names.workspace(workspaceId);
      const row = this.#find(workspace, want);
      if (row !== undefined) {
        // Whoever reads by a name is about to charge.
        if (!isAddress(want)) keepLoaded(memo, want.kind, row, workspace);
        return { revision: wholeOr0(row[REVISION_AT]), found: [loadedRecord(want.kind, row)] };
      }
    }
    return this.#connection.snapshot(() => {
      const workspace = this.#connection.names.workspace(workspaceId);
      const revision = revisionOf(this.#revision.get(workspaceId) as Row | undefined);
      const found = wants.map((each): LoadedRecord | null => {
        const row = this.#find(workspace, each);
        return row === undefined ? null : loadedRecord(each.kind, row);
      });
      return { revision, found };
    });
  }

  #find(workspace: number, want: Want): Row | undefined {
    if (isAddress(want)) return this.#byId.get(workspace, KIND_CODE[want.kind], want.id) as never;
    const name = this.#connection.names.name(workspace, claimName(want));
    return this.#byClaim.get(name, storedValue(want)) as Row | undefined;
  }
}

function isAddress(want: RecordAddress | Claim): want is RecordAddress {
  return "id" in want;
}

/** The revision in a row that begins with one: 0 for a workspace that nothing was written to. */
export function revisionOf(row: Row | undefined): number {
  return wholeOr0(row?.[0]);
}
