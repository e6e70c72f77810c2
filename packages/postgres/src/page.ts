import { KIND_CODE, type PageResult, type PageWant, parseWhole } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { storedText } from "./engine/names.js";
import { loadedRecord } from "./stored-record.js";

/** Above every id: ids are printable ASCII. */
const ABOVE_ALL = "\x7f";

/** Reads the next records of a list. One statement is one snapshot. */
export async function page(
  connection: Connection,
  workspaceId: string,
  { kind, list, of, after, limit, descending = false, from }: PageWant,
): Promise<PageResult> {
  const { sql } = connection;
  const most = String(limit + 1);
  const rows =
    from !== undefined
      ? await connection.ask(sql.log, [workspaceId, list, String(from.version), from.id, most])
      : await connection.ask(sql[descending ? "descending" : "ascending"], [
          workspaceId,
          list,
          String(KIND_CODE[kind]),
          storedText(of),
          after ?? (descending ? ABOVE_ALL : ""),
          most,
        ]);
  const found = rows.flatMap((row) => loadedRecord(kind, row, 2) ?? []);
  return {
    revision: parseWhole(rows[0]?.[0]) ?? 0,
    found: found.slice(0, limit),
    hasMore: found.length > limit,
    size: parseWhole(rows[0]?.[1]) ?? 0,
    ...(from !== undefined && { last: parseWhole(rows[0]?.at(-1)) ?? 1 }),
  };
}
