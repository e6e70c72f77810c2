import {
  DIRECTORY_ID,
  type RootKeyPointer,
  type RootKeyRecord,
  rootKeyPointerType,
  rootKeyType,
} from "../../records/root-key.js";
import {
  unwrittenWorkspace,
  type WorkspaceRecord,
  workspaceType,
} from "../../records/workspace.js";
import { isExpired } from "../../rules/keys/lifecycle.js";
import { MAX_SECRET_LENGTH, secretShape } from "../../secrets/format.js";
import type { Want } from "../../store/key-store.js";
import type { OperationContext } from "../context.js";

/** Result of authenticateRootKey. */
export type RootKeyOutcome =
  | {
      /** A valid root key. */
      readonly kind: "authenticated";
      /** `root_…` */
      readonly rootKeyId: string;
      /** The workspace that it may manage. */
      readonly workspaceId: string;
      /** What it authorises. */
      readonly permissions: readonly string[];
    }
  | {
      /** Malformed, unknown, expired or disabled: the result does not say which. */
      readonly kind: "refused";
    }
  | {
      /** A valid root key of a disabled workspace. */
      readonly kind: "workspace-disabled";
    };

const REFUSED: RootKeyOutcome = { kind: "refused" };

/** The place of a token's root key never changes, so it is cached; the root key itself is read each time. */
export async function authenticateRootKey(
  context: OperationContext,
  token: string,
): Promise<RootKeyOutcome> {
  // A host may pass anything: a value that is not a string is not a root key.
  if (typeof token !== "string" || token.length > MAX_SECRET_LENGTH) return REFUSED;
  const plainHash = context.hasher.plainHash(token);
  const known = context.rootKeys.get(plainHash);
  const found =
    (known === undefined ? null : await readRootKey(context, known)) ??
    (await findRootKey(context, token, plainHash));
  if (found === null) return REFUSED;
  const { rootKey, workspace } = found;
  if (!rootKey.enabled || isExpired(rootKey.expires, context.now())) return REFUSED;
  if (!workspace.enabled) return { kind: "workspace-disabled" };
  const { id: rootKeyId, workspaceId, permissions } = rootKey;
  return { kind: "authenticated", rootKeyId, workspaceId, permissions };
}

interface FoundRootKey {
  readonly rootKey: RootKeyRecord;
  readonly workspace: WorkspaceRecord;
}

/** Looks in the directory, which points to the root keys of all workspaces. */
async function findRootKey(
  context: OperationContext,
  token: string,
  plainHash: string,
): Promise<FoundRootKey | null> {
  const shape = secretShape(token);
  if (shape === "malformed" || shape === "damaged") return null;
  const hashes = context.hasher.candidates(token);
  const wants = hashes.map((hash): Want => ({ kind: "rootKeyPointer", id: hash }));
  const pointers = await context.store.read(DIRECTORY_ID, wants);
  for (const pointed of pointers.found) {
    if (pointed === null) continue;
    const pointer = rootKeyPointerType.decode(pointed.record, DIRECTORY_ID);
    const found = await readRootKey(context, pointer);
    if (found === null) continue;
    context.rootKeys.set(plainHash, pointer);
    return found;
  }
  return null;
}

/** The root key of a pointer; null if none has this hash any more. */
async function readRootKey(
  { store }: OperationContext,
  { id: hash, workspaceId, rootKeyId }: RootKeyPointer,
): Promise<FoundRootKey | null> {
  const { found } = await store.read(workspaceId, [
    { kind: "rootKey", id: rootKeyId },
    { kind: "workspace", id: workspaceId },
  ]);
  const [stored = null, workspace = null] = found;
  if (stored === null) return null;
  const rootKey = rootKeyType.decode(stored.record, workspaceId);
  // A pointer is only a hint: the hash of the root key itself decides.
  if (rootKey.hash !== hash) return null;
  return {
    rootKey,
    workspace:
      workspace === null
        ? unwrittenWorkspace(workspaceId)
        : workspaceType.decode(workspace.record, workspaceId),
  };
}
