import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";

const revokeRootKeyInput = z.strictObject({ rootKeyId: id });

/**
 * Revokes a root key for good: it authorises no call that starts after this has resolved, in no process.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such root key.
 */
export async function revokeRootKey(
  context: OperationContext,
  input: z.input<typeof revokeRootKeyInput>,
): Promise<Record<string, never>> {
  const { rootKeyId } = parseInput(revokeRootKeyInput, input);
  const { store, workspaceId } = context;
  const changes = [
    noteChange(context, {
      type: "root_key.revoked",
      at: context.now(),
      resourceId: rootKeyId,
    }),
  ];
  const outcome = await store.deleteRootKey(workspaceId, rootKeyId, toLog(context, changes));
  if (outcome === "not-found") throw notFound("root key");
  announce(context, changes);
  return {};
}
