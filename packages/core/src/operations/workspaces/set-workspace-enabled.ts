import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import type { OperationContext } from "../context.js";
import { flag, parseInput } from "../input.js";

const setWorkspaceEnabledInput = z.strictObject({ enabled: flag });

/**
 * Switches this workspace on or off. While it is off no verification gives a verdict (`FORBIDDEN`) and no root key of
 * it authorises anything. Seen by every call that starts after this has resolved.
 *
 * @param enabled - true or false, and nothing that merely looks like one: a kill switch must not guess.
 * @throws LatchkeyError `BAD_REQUEST` for anything else.
 */
export async function setWorkspaceEnabled(
  context: OperationContext,
  enabled: boolean,
): Promise<void> {
  const parsed = parseInput(setWorkspaceEnabledInput, { enabled });
  const { store, workspaceId } = context;
  const changes = [
    noteChange(context, {
      type: parsed.enabled ? "workspace.enabled" : "workspace.disabled",
      at: context.now(),
      resourceId: workspaceId,
    }),
  ];
  await store.setWorkspaceEnabled(workspaceId, parsed.enabled, toLog(context, changes));
  announce(context, changes);
}
