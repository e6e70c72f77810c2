import { isCorruptRecord, LAST_INSTANT } from "@latchkey/core";
import { SCRIPTS } from "./engine/scripts.js";
import type { Workspace } from "./engine/workspace.js";
import { scanKeys } from "./scan.js";
import { deleteStatistics } from "./statistics.js";

/** Sums that are forgotten at once, at most. */
const SUMS_AT_ONCE = 500;

/**
 * One step of forgetting a workspace: what `SCAN` comes upon of its Redis keys. The last one takes its own records, and the revision.
 *
 * Until then a charge may count what it refuses, behind the scan: such sums are found by their days, which go last as well.
 *
 * @returns Null when nothing of it is left.
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
