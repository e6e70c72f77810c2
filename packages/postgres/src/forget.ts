import { parseWhole } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";

/** Most rows of each sort that one step deletes. */
const FORGOTTEN_AT_ONCE = "500";

/** One step of forgetting a workspace. @returns Null once nothing of it is left. */
export async function forget(connection: Connection, workspaceId: string): Promise<string | null> {
  const { forgetSome, forgetRest } = connection.sql;
  const [counts = []] = await connection.ask(forgetSome, [workspaceId, FORGOTTEN_AT_ONCE], true);
  if (counts.some((count) => parseWhole(count) !== 0)) return workspaceId;
  await connection.ask(forgetRest, [workspaceId], true);
  return null;
}
