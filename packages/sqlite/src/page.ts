import type { PageResult, PageWant } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { prepareAll } from "./engine/database.js";
import { storedOwner } from "./engine/names.js";
import { BESIDE, KIND_CODE, LOADED, loadedRecord, wholeOr0 } from "./stored-record.js";

/** The order of the joins is given: the list is walked, and each record looked up. */
const IN_LIST = `${LOADED} FROM latchkey_entry e
  CROSS JOIN latchkey_record r ON r.workspace = ? AND r.kind = ? AND r.id = e.id
  ${BESIDE} WHERE e.list = ? AND e.owner = ? AND e.id`;

export const PAGE_SQL = {
  list: `SELECT w.seq, w.revision, n.seq, n.size FROM latchkey_workspace w
    LEFT JOIN latchkey_name n ON n.workspace = w.seq AND n.name = ? WHERE w.id = ?`,
  ascending: `${IN_LIST} > ? ORDER BY e.id LIMIT ?`,
  descending: `${IN_LIST} < ? ORDER BY e.id DESC LIMIT ?`,
} as const;

/** Above every id. */
const TOP = "\u{10ffff}";

/** Reads lists. */
export class Paging {
  readonly #connection: Connection;
  readonly #run;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#run = prepareAll(connection.database, PAGE_SQL);
  }

  page(workspaceId: string, want: PageWant): PageResult {
    return this.#connection.snapshot(() => {
      const { kind, limit, descending = false } = want;
      const [workspace, revision, list, size] = this.#run.list.get(want.list, workspaceId) ?? [];
      const after = want.after ?? (descending ? TOP : "");
      const statement = descending ? this.#run.descending : this.#run.ascending;
      const place = [workspace ?? null, KIND_CODE[kind], list ?? null, storedOwner(want), after];
      const rows = statement.all(...place, limit + 1);
      const found = rows.slice(0, limit).map((row) => loadedRecord(kind, row));
      const hasMore = rows.length > limit;
      return { revision: wholeOr0(revision), found, hasMore, size: wholeOr0(size) };
    });
  }
}
