import type { EpochMs } from "../time.js";
import { defineRecord, type RecordHead, unlessEmpty } from "./record-type.js";

/** A key that authorises management calls in one workspace. It never verifies as a key of an API. */
export interface RootKeyRecord extends RecordHead {
  readonly hash: string;
  readonly start: string;
  readonly name: string | null;
  /** What the token may do: `*`, `api.*.create_key`, `api.<apiId>.read_key` … Empty means nothing. */
  readonly permissions: readonly string[];
  readonly expires: EpochMs | null;
  readonly enabled: boolean;
  /** The root key that it was rotated into; null: none. */
  readonly rotatedTo: string | null;
  readonly createdAt: EpochMs;
}

/** Root keys: found by id. Their hashes lead to them through the {@link rootKeyPointerType | directory}. */
export const rootKeyType = defineRecord<RootKeyRecord>({
  kind: "rootKey",
  write: (rootKey) => ({
    hash: rootKey.hash,
    start: rootKey.start,
    name: rootKey.name,
    permissions: unlessEmpty(rootKey.permissions),
    expires: rootKey.expires,
    disabled: rootKey.enabled ? undefined : true,
    rotatedTo: rootKey.rotatedTo,
    createdAt: rootKey.createdAt,
  }),
  read: (body, { id, workspaceId }) => ({
    id,
    workspaceId,
    hash: body.text("hash"),
    start: body.text("start"),
    name: body.textOrNull("name"),
    permissions: body.texts("permissions"),
    expires: body.instantOrNull("expires"),
    enabled: !body.flag("disabled"),
    rotatedTo: body.textOrNull("rotatedTo"),
    createdAt: body.whole("createdAt"),
  }),
});

/** The partition of the store that leads from the hash of a root key to its workspace. No workspace can have this id. */
export const DIRECTORY_ID = "$directory";

/** Where the root key with this hash is. A pointer that leads nowhere is harmless. */
export interface RootKeyPointer {
  /** Hash of the root key. */
  readonly id: string;
  readonly workspaceId: string;
  readonly rootKeyId: string;
}

/** Pointers to root keys: found by hash, in the {@link DIRECTORY_ID | directory}. */
export const rootKeyPointerType = defineRecord<RootKeyPointer>({
  kind: "rootKeyPointer",
  write: ({ workspaceId, rootKeyId }) => ({ workspaceId, rootKeyId }),
  read: (body, { id }) => ({
    id,
    workspaceId: body.text("workspaceId"),
    rootKeyId: body.text("rootKeyId"),
  }),
  lists: () => [],
});
