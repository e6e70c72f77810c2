import type { ScanResult } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { Names } from "./engine/names.js";

/**
 * The next names, as `SCAN` comes upon them: it goes through all Redis keys of the server, some at a time. Redis keys of a digest
 * are those of no workspace.
 */
export async function scan(
  connection: Connection,
  names: Names,
  isOfWorkspace: boolean,
  after: string | null,
): Promise<ScanResult> {
  const pattern = isOfWorkspace ? names.window("*") : names.anyWorkspace;
  const { keys, next } = await connection.scan(pattern, after);
  if (isOfWorkspace) return { names: keys.map((key) => key.slice(pattern.length - 1)), next };
  const ids = keys.map((key) => key.slice(key.indexOf("{") + 1, key.indexOf("}")));
  return { names: [...new Set(ids)].filter((id) => !id.startsWith("~")), next };
}
