import {
  KIND_CODE,
  type LoadedRecord,
  parseWhole,
  type ReadResult,
  type Want,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { storedText } from "./engine/names.js";
import { loadedRecord } from "./stored-record.js";

/** Reads records by id and by claim. One statement is one snapshot. */
export async function read(
  connection: Connection,
  workspaceId: string,
  wants: readonly Want[],
): Promise<ReadResult> {
  const places = wants.map((want) => {
    if ("id" in want) return [KIND_CODE[want.kind], want.id];
    return [KIND_CODE[want.kind], null, want.index, storedText(want.value)];
  });
  const rows = await connection.ask(connection.sql.read, [workspaceId, JSON.stringify(places)]);
  const found = new Array<LoadedRecord | null>(wants.length).fill(null);
  for (const row of rows) {
    const index = (parseWhole(row[1]) ?? 0) - 1;
    const want = wants[index];
    if (want !== undefined) found[index] = loadedRecord(want.kind, row, 2);
  }
  return { revision: parseWhole(rows[0]?.[0]) ?? 0, found };
}
