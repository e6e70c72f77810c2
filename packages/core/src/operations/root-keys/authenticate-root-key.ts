import {
  DIRECTORY_ID,
  type RootKeyRecord,
  rootKeyPointerType,
  rootKeyType,
} from "../../records/root-key.js";
import {
  unwrittenWorkspace,
  type WorkspaceRecord,
  workspaceType,
} from "../../records/workspace.js";
import { isExpired } from "../../rules/expiry.js";
import { secretShape } from "../../secrets/format.js";
import type { Want } from "../../store/key-store.js";
import type { OperationContext } from "../context.js";

/** Whom a management token speaks for. */
export type RootKeyOutcome =
  | {
      readonly kind: "authenticated";
      readonly rootKeyId: string;
      readonly workspaceId: string;
      readonly permissions: readonly string[];
    }
  /** Malformed, unknown, expired or switched off: the answer does not say which. */
  | { readonly kind: "refused" }
  /** A good token of a workspace that is disabled. */
  | { readonly kind: "workspace-disabled" };

const REFUSED: RootKeyOutcome = { kind: "refused" };

/**
 * Finds out whom a token speaks for. Root keys of every workspace are recognised: the token says which
 * workspace it belongs to. Keys of APIs are not root keys, whatever their permissions.
 *
 * @param token - The presented root key.
 */
export async function authenticateRootKey(
  context: OperationContext,
  token: string,
): Promise<RootKeyOutcome> {
  // Whatever a host's header parsing came to: what is no text is no root key.
  if (typeof token !== "string") return REFUSED;
  const shape = secretShape(token);
  if (shape === "malformed" || shape === "damaged") return REFUSED;
  const found = await findRootKey(context, context.hasher.candidates(token));
  if (found === null) return REFUSED;
  const { rootKey, workspace } = found;
  if (!rootKey.enabled || isExpired(rootKey.expires, context.now())) return REFUSED;
  if (!workspace.enabled) return { kind: "workspace-disabled" };
  const { id: rootKeyId, workspaceId, permissions } = rootKey;
  return { kind: "authenticated", rootKeyId, workspaceId, permissions };
}

/** The root key of one of these hashes, of any workspace, with its workspace. */
async function findRootKey(
  { store }: OperationContext,
  hashes: readonly string[],
): Promise<{ readonly rootKey: RootKeyRecord; readonly workspace: WorkspaceRecord } | null> {
  const wants = hashes.map((hash): Want => ({ kind: "rootKeyPointer", id: hash }));
  const pointers = await store.read(DIRECTORY_ID, wants);
  for (const pointed of pointers.found) {
    if (pointed === null) continue;
    const {
      id: hash,
      workspaceId,
      rootKeyId,
    } = rootKeyPointerType.decode(pointed.record, DIRECTORY_ID);
    const { found } = await store.read(workspaceId, [
      { kind: "rootKey", id: rootKeyId },
      { kind: "workspace", id: workspaceId },
    ]);
    const [stored = null, workspace = null] = found;
    if (stored === null) continue;
    const rootKey = rootKeyType.decode(stored.record, workspaceId);
    // A pointer is a hint, and the root key itself says whose it is.
    if (rootKey.hash !== hash) continue;
    return {
      rootKey,
      workspace:
        workspace === null
          ? unwrittenWorkspace(workspaceId)
          : workspaceType.decode(workspace.record, workspaceId),
    };
  }
  return null;
}
