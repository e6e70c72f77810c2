import { z } from "zod";
import { unwrittenWorkspace, workspaceType } from "../../records/workspace.js";
import { type OperationContext, transact } from "../context.js";
import { decodeOrNull, versionIfReadable } from "../damaged.js";
import { flag, parseInput } from "../input.js";

/** Input of setWorkspaceEnabled over HTTP. */
export interface SetWorkspaceEnabledInput {
  /** Whether the workspace is switched on. */
  readonly enabled: boolean;
}

/** Schema of the input of setWorkspaceEnabled, as an object. */
export const setWorkspaceEnabledInput = z.strictObject({ enabled: flag });

/** @see WorkspaceOperations.setWorkspaceEnabled */
export async function setWorkspaceEnabled(
  context: OperationContext,
  enabled: boolean,
): Promise<void> {
  const parsed = parseInput(setWorkspaceEnabledInput, { enabled });
  const { workspaceId } = context;
  await transact(context, async (transaction, audit) => {
    const address = { kind: "workspace", id: workspaceId } as const;
    const loaded = await transaction.readOne({ ...address, expects: "nothing" });
    const expected = loaded === null ? null : versionIfReadable(loaded.record);
    transaction.expect({ ...address, version: expected, handle: loaded?.handle });
    // A record that cannot be read must not keep the kill switch from working; only a name is lost.
    const before = loaded === null ? null : decodeOrNull(workspaceType, loaded.record, workspaceId);
    if ((loaded === null || before?.enabled) === parsed.enabled) return;
    const version = (loaded?.record.version ?? 0) + 1;
    const workspace = {
      ...(before ?? unwrittenWorkspace(workspaceId)),
      enabled: parsed.enabled,
      version,
    };
    transaction.insert(workspaceType, workspace);
    transaction.raiseRevision();
    audit({
      type: parsed.enabled ? "workspace.enabled" : "workspace.disabled",
      at: context.now(),
      resourceId: workspaceId,
      unreadable: loaded !== null && before === null,
    });
  });
}
