import type { ScanResult } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { Names } from "./engine/names.js";

/**
 * The next names, as `SCAN` comes upon them: it goes through all Redis keys of the server, some at a time. Those of a digest are of
 * no workspace. A window holds its own name, behind the units: `<start>:<used> <name>=`.
 */
export async function scan(
  connection: Connection,
  names: Names,
  isOfWorkspace: boolean,
  after: string | null,
): Promise<ScanResult> {
  const pattern = isOfWorkspace ? names.anyWindow : names.anyWorkspace;
  const { found, next } = await connection.scan(pattern, isOfWorkspace, after);
  const named = isOfWorkspace ? / (\S+)=$/ : /\{([^~{}][^{}]*)\}/;
  const words = found.map((text) => named.exec(text ?? "")?.[1]);
  return { names: [...new Set(words)].filter((name) => name !== undefined), next };
}
