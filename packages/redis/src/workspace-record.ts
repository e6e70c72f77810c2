import { untouchedWorkspace, type WorkspaceRecord } from "@latchkey/core";
import { flag, json, readStored, text, whole } from "./values.js";

/**
 * Reads a workspace out of three values, each "" where nothing was written of it.
 *
 * @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written.
 */
export function workspaceRecord(
  id: string,
  [enabled, epoch, name]: readonly unknown[],
): WorkspaceRecord {
  const untouched = untouchedWorkspace(id);
  if (enabled === "" && epoch === "") return untouched;
  return readStored("workspace", id, () => ({
    id,
    name: name === "" ? untouched.name : text(json(name)),
    enabled: enabled === "" ? untouched.enabled : flag(enabled),
    epoch: epoch === "" ? untouched.epoch : whole(epoch),
  }));
}
