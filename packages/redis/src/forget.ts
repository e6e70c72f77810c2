import { SCRIPTS } from "./engine/scripts.js";
import type { Workspace } from "./engine/workspace.js";
import { scanKeys } from "./scan.js";

/**
 * One step of forgetting a workspace: what `SCAN` comes upon of its Redis keys. The last one takes its own records, and the revision.
 *
 * @returns Null when nothing of it is left.
 */
export async function forget(workspace: Workspace, after: string | null): Promise<string | null> {
  const last = [...workspace.everyPartOf("workspace"), workspace.shared];
  const { keys, next } = await scanKeys(workspace, workspace.anyKey, after);
  const going = keys.filter((key) => !last.includes(key));
  if (next === null) going.push(...last);
  if (going.length > 0) await workspace.run(SCRIPTS.forget, going, []);
  return next;
}
