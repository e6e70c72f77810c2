import type { EpochMs } from "../time.js";
import { defineRecord, type RecordHead, unlessEmpty, type VersionedHead } from "./record-type.js";

/** A permission that keys and roles can be given. Names are unique in a workspace. */
export interface PermissionRecord extends RecordHead {
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: EpochMs;
}

/** Permissions: found by id or by name. */
export const permissionType = defineRecord<PermissionRecord>({
  kind: "permission",
  write: ({ name, description, createdAt }) => ({ name, description, createdAt }),
  read: (body, { id, workspaceId }) => ({
    id,
    workspaceId,
    name: body.text("name"),
    description: body.textOrNull("description"),
    createdAt: body.whole("createdAt"),
  }),
  claims: ({ name }) => [{ index: "name", value: name }],
});

/** A named set of permissions. Names are unique in a workspace. */
export interface RoleRecord extends VersionedHead {
  readonly name: string;
  readonly description: string | null;
  /** Ids of its permissions. Deleted permissions count for nothing. */
  readonly permissions: readonly string[];
  readonly createdAt: EpochMs;
}

/** Maximum numbers of roles and permissions that a key holds directly. */
export const MAX_HELD = { roles: 100, permissions: 1_000 } as const;

/** Roles: found by id or by name. */
export const roleType = defineRecord<RoleRecord>({
  kind: "role",
  write: ({ name, description, permissions, createdAt }) => ({
    name,
    description,
    permissions: unlessEmpty(permissions),
    createdAt,
  }),
  read: (body, head) => ({
    ...head,
    name: body.text("name"),
    description: body.textOrNull("description"),
    permissions: body.texts("permissions"),
    createdAt: body.whole("createdAt"),
  }),
  claims: ({ name }) => [{ index: "name", value: name }],
});
