import { DEFAULT_WORKSPACE_ID, type KeyStore, type Latchkey } from "@latchkey/core";
import { UsageError } from "./failures.js";

/**
 * Refuses a mistyped id. Every id names a workspace, so a command would find nothing in it, or create something where nobody looks.
 *
 * @throws UsageError unless it is the default workspace, was created, or has ever been used.
 */
export async function assertWorkspace(
  latchkey: Latchkey,
  store: KeyStore,
  { workspace }: { readonly workspace?: string },
): Promise<void> {
  const { workspaceId } = latchkey;
  if (workspaceId === DEFAULT_WORKSPACE_ID || (await hasShownUse(latchkey, store))) return;
  const named = workspace === undefined ? "LATCHKEY_WORKSPACE" : "--workspace";
  throw new UsageError(
    `${named} must name a workspace: ${workspaceId} was never created and holds nothing (workspace create makes one)`,
  );
}

/** Whether the workspace was ever created, named, enabled, disabled or changed, or contains anything. */
export async function hasShownUse(latchkey: Latchkey, store: KeyStore): Promise<boolean> {
  const { workspaceId: id } = latchkey;
  const { revision, found } = await store.read(id, [{ kind: "workspace", id }]);
  // After a change of APIs, roles or permissions, the revision is not 0.
  if (revision > 0 || found[0] != null) return true;
  const one = { limit: 1 };
  const lists = [latchkey.listApis(one), latchkey.listIdentities(one), latchkey.listRootKeys(one)];
  return (await Promise.all(lists)).some(({ total }) => total > 0);
}
