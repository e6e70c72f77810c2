import type { EpochMs } from "../time.js";
import { defineRecord, unlessEmpty, type VersionedHead } from "./record-type.js";

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
  read: (body, { id, workspaceId, version }) => ({
    id,
    workspaceId,
    name: body.text("name"),
    description: body.textOrNull("description"),
    permissions: body.texts("permissions"),
    createdAt: body.whole("createdAt"),
    version,
  }),
  claims: ({ name }) => [{ index: "name", value: name }],
});
