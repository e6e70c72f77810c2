import type { EpochMs } from "../time.js";
import type { BodyReader } from "./body.js";
import { defineRecord, type RecordHead, unlessEmpty, type VersionedHead } from "./record-type.js";

/** What permissions and roles have in common. Names are unique in a workspace. */
interface Named {
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: EpochMs;
}

/** A permission that keys and roles can be given. */
export type PermissionRecord = RecordHead & Named;

/** A named set of permissions. */
export interface RoleRecord extends VersionedHead, Named {
  /** Ids of its permissions. Deleted permissions count for nothing. */
  readonly permissions: readonly string[];
}

const readNamed = (body: BodyReader): Named => ({
  name: body.text("name"),
  description: body.textOrNull("description"),
  createdAt: body.whole("createdAt"),
});

const claims = ({ name }: Named) => [{ index: "name", value: name }] as const;

/** Permissions: found by id or by name. */
export const permissionType = defineRecord<PermissionRecord>({
  kind: "permission",
  write: ({ name, description, createdAt }) => ({ name, description, createdAt }),
  read: (body, { id, workspaceId }) => ({
    id,
    workspaceId,
    ...readNamed(body),
  }),
  claims,
});

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
    ...readNamed(body),
    permissions: body.texts("permissions"),
  }),
  claims,
});
