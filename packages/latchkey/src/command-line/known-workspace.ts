import { DEFAULT_WORKSPACE_ID, type KeyStore, type Latchkey } from "@latchkey/core";
import { UsageError } from "./failures.js";

/**
 * Every id names a workspace, also a mistyped one, in which nothing would be found, or something made that nobody finds.
 *
 * @throws UsageError unless it is the default workspace, was created, or shows any use.
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

/** Whether the workspace was created, named, switched or changed before, or holds anything. */
export async function hasShownUse(latchkey: Latchkey, store: KeyStore): Promise<boolean> {
  const { workspaceId: id } = latchkey;
  const { revision, found } = await store.read(id, [{ kind: "workspace", id }]);
  // Changes of APIs, roles and permissions bring another revision than 0.
  if (revision > 0 || found[0] != null) return true;
  const one = { limit: 1 };
  const lists = [latchkey.listApis(one), latchkey.listIdentities(one), latchkey.listRootKeys(one)];
  return (await Promise.all(lists)).some(({ total }) => total > 0);
}
