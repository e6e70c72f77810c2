import type { PageResult, PageWant } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { prepareQuery, type Row, type SqliteStatement } from "./engine/database.js";
import { storedOwner } from "./engine/names.js";
import { revisionOf } from "./read.js";
import { BESIDE, KIND_CODE, LOADED, loadedRecord } from "./stored-record.js";

/** The order of the joins is given: the list is walked, and each record looked up. */
const IN_LIST = `${LOADED} FROM latchkey_entry e
  CROSS JOIN latchkey_record r ON r.workspace = ? AND r.kind = ? AND r.id = e.id
  ${BESIDE} WHERE e.list = ? AND e.owner = ?`;

export const PAGE_SQL = {
  list: `SELECT w.revision, n.seq, n.size, w.seq FROM latchkey_workspace w
    LEFT JOIN latchkey_name n ON n.workspace = w.seq AND n.name = ? WHERE w.id = ?`,
  first: `${IN_LIST} ORDER BY e.id LIMIT ?`,
  after: `${IN_LIST} AND e.id > ? ORDER BY e.id LIMIT ?`,
  last: `${IN_LIST} ORDER BY e.id DESC LIMIT ?`,
  before: `${IN_LIST} AND e.id < ? ORDER BY e.id DESC LIMIT ?`,
} as const;

const NOTHING: PageResult = { revision: 0, found: [], hasMore: false, size: 0 };

/** Reads lists. */
export class Paging {
  readonly #connection: Connection;
  readonly #list: SqliteStatement;
  readonly #ascending: { readonly first: SqliteStatement; readonly after: SqliteStatement };
  readonly #descending: { readonly first: SqliteStatement; readonly after: SqliteStatement };

  constructor(connection: Connection) {
    const { database } = connection;
    this.#connection = connection;
    this.#list = prepareQuery(database, PAGE_SQL.list);
    this.#ascending = {
      first: prepareQuery(database, PAGE_SQL.first),
      after: prepareQuery(database, PAGE_SQL.after),
    };
    this.#descending = {
      first: prepareQuery(database, PAGE_SQL.last),
      after: prepareQuery(database, PAGE_SQL.before),
    };
  }

  page(workspaceId: string, want: PageWant): PageResult {
    return this.#connection.snapshot(() => {
      const list = this.#list.get(want.list, workspaceId) as Row | undefined;
      if (list === undefined) return NOTHING;
      const [, name, size, workspace] = list;
      const revision = revisionOf(list);
      if (name === null) return { ...NOTHING, revision };
      const { kind, after, limit, descending } = want;
      const { first, after: following } = descending === true ? this.#descending : this.#ascending;
      const place = [workspace, KIND_CODE[kind], name, storedOwner(want)];
      const rows = (
        after === null ? first.all(...place, limit + 1) : following.all(...place, after, limit + 1)
      ) as Row[];
      const hasMore = rows.length > limit;
      if (hasMore) rows.pop();
      const found = rows.map((row) => loadedRecord(kind, row));
      return { revision, found, hasMore, size: size as number };
    });
  }
}
