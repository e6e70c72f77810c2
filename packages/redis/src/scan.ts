import type { ScanResult } from "@latchkey/core";
import type { RedisClient } from "./engine/client.js";
import type { Workspace } from "./engine/workspace.js";

/** How many Redis keys one step looks at. */
const SCANNED_AT_ONCE = 1_000;

/**
 * The next names, as `SCAN` comes upon them: it goes through all Redis keys of one primary after the other. Those of a digest are
 * of no workspace. A window holds its own name, behind the units: `<start>:<used> <name>=`.
 *
 * @param after - Number of a primary, and its cursor.
 */
export async function scan(
  { connection, anyWindow, anyWorkspace }: Workspace,
  isOfWorkspace: boolean,
  after: string | null,
): Promise<ScanResult> {
  const [number, cursor] = (after ?? "0 0").split(" ") as [string, string];
  const { primaries } = connection;
  const primary = primaries[Number(number)] as RedisClient;
  const pattern = isOfWorkspace ? anyWindow : anyWorkspace;
  const step = () => primary.scan(cursor, "MATCH", pattern, "COUNT", SCANNED_AT_ONCE);
  const [next, keys] = await connection.ask(step);
  const isRead = isOfWorkspace && keys.length > 0;
  const found = isRead ? await connection.ask(() => primary.mget([...keys])) : keys;
  const named = isOfWorkspace ? / (\S+)=$/ : /\{([^~{}][^{}]*)\}/;
  const following = next === "0" ? `${Number(number) + 1} 0` : `${number} ${next}`;
  return {
    names: [...new Set(found.flatMap((text) => named.exec(text ?? "")?.[1] ?? []))],
    next: following === `${primaries.length} 0` ? null : following,
  };
}
