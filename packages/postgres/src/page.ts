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
  { kind, list, of, after, limit, descending = false }: PageWant,
): Promise<PageResult> {
  const rows = await connection.ask(connection.sql[descending ? "descending" : "ascending"], [
    workspaceId,
    list,
    String(KIND_CODE[kind]),
    storedText(of),
    after ?? (descending ? ABOVE_ALL : ""),
    String(limit + 1),
  ]);
  const found = rows.flatMap((row) => loadedRecord(kind, row, 2) ?? []);
  return {
    revision: parseWhole(rows[0]?.[0]) ?? 0,
    found: found.slice(0, limit),
    hasMore: found.length > limit,
    size: parseWhole(rows[0]?.[1]) ?? 0,
  };
}
