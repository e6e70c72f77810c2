import { piecesOf } from "../pieces.js";
import { aChange } from "./changes.js";
import { type FoundWindow, type FoundWindows, windowText, writeWindows } from "./windows.js";
import type { Target } from "./write.js";

/** Windows per change, and written in parallel. */
const MOST_AT_ONCE = 500;

/**
 * Makes the windows of a workspace on the target as they should be. A window that must change is deleted first, because a window
 * only rises.
 *
 * @returns How many had to change.
 */
export async function writeOwnWindows(
  { store, workspaceId, expects }: Target,
  wanted: FoundWindows,
  present: FoundWindows,
): Promise<number> {
  const isThere = (window: FoundWindow | undefined, among: FoundWindows) => {
    const other = window && among.get(window.window);
    return other !== undefined && windowText("", other) === windowText("", window as FoundWindow);
  };
  const dropped = [...present.keys()].filter((name) => !isThere(present.get(name), wanted));
  const missing = [...wanted.values()].filter((window) => !isThere(window, present));
  for (const dropWindows of piecesOf(dropped, MOST_AT_ONCE))
    await store.commit(workspaceId, aChange({ expects, dropWindows }));
  for (const some of piecesOf(missing, MOST_AT_ONCE)) {
    const windows = some.map((window) => ({ ...window, owner: null }));
    await writeWindows(store, workspaceId, windows);
  }
  return new Set([...dropped, ...missing.map(({ window }) => window)]).size;
}
