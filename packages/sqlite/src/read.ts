import type { Claim, ReadResult, RecordAddress, Want } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { prepareAll, type Row } from "./engine/database.js";
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
  readonly #run;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#run = prepareAll(connection.database, READ_SQL);
  }

  read(workspaceId: string, wants: readonly Want[]): ReadResult {
    const { names, memo } = this.#connection;
    const workspace = names.workspace(workspaceId);
    const [want] = wants;
    // One statement is a snapshot of its own, and says the revision along with the record.
    const row = want !== undefined && wants.length === 1 ? this.#find(workspace, want) : undefined;
    if (want !== undefined && row !== undefined) {
      // Whoever reads by a name is about to charge.
      if (!isAddress(want)) keepLoaded(memo, want.kind, row, workspace);
      return { revision: wholeOr0(row[REVISION_AT]), found: [loadedRecord(want.kind, row)] };
    }
    return this.#connection.snapshot(() => {
      const [revision] = this.#run.revision.get(workspaceId) ?? [];
      const found = wants.map((each) => {
        const row = this.#find(names.workspace(workspaceId), each);
        return row === undefined ? null : loadedRecord(each.kind, row);
      });
      return { revision: wholeOr0(revision), found };
    });
  }

  #find(workspace: number, want: Want): Row | undefined {
    if (isAddress(want)) return this.#run.byId.get(workspace, KIND_CODE[want.kind], want.id);
    const name = this.#connection.names.name(workspace, claimName(want));
    return this.#run.byClaim.get(name, storedValue(want));
  }
}

function isAddress(want: RecordAddress | Claim): want is RecordAddress {
  return "id" in want;
}
