import { isCorruptRecord, LAST_INSTANT } from "@latchkey/core";
import { SCRIPTS } from "./engine/scripts.js";
import type { Workspace } from "./engine/workspace.js";
import { scanKeys } from "./scan.js";
import { deleteStatistics } from "./statistics.js";

/** Most sums that are deleted at once. */
const SUMS_AT_ONCE = 500;

/**
 * One step of forgetting a workspace: deletes the Redis keys that `SCAN` returns. The last step deletes the workspace's own records and
 * the revision.
 *
 * Until then a charge may count what it refuses, in keys that the scan has passed: such sums are found by their days, which go last as
 * well.
 *
 * @returns Null once nothing of it is left.
 */
export async function forget(workspace: Workspace, after: string | null): Promise<string | null> {
  const last = [workspace.days, ...workspace.everyPartOf("workspace"), workspace.shared];
  const { keys, next } = await scanKeys(workspace, workspace.anyKey, after);
  const going = keys.filter((key) => !last.includes(key));
  if (going.length > 0) await workspace.run(SCRIPTS.forget, going, []);
  if (next !== null) return next;
  do await forgetSums(workspace);
  while ((await workspace.run(SCRIPTS.forget, last, ["unless"])) === "AGAIN");
  return null;
}

async function forgetSums(workspace: Workspace): Promise<void> {
  try {
    while ((await deleteStatistics(workspace, LAST_INSTANT, SUMS_AT_ONCE)).hasMore);
  } catch (error) {
    if (!isCorruptRecord(error)) throw error;
    await workspace.run(SCRIPTS.forget, [workspace.days], []);
  }
}
