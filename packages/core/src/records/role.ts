import type { EpochMs } from "../time.js";

/** A permission that keys and roles can be given. Names are unique in a workspace. */
export interface PermissionRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: EpochMs;
}

/** A named set of permissions. Names are unique in a workspace. */
export interface RoleRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: EpochMs;
  /** Rises by one whenever the role is given another set of permissions; not when one of them is deleted. */
  readonly version: number;
}

/** A role or permission as it is held: enough to name it. */
export interface NamedGrant {
  readonly id: string;
  readonly name: string;
}

/** A role with the permissions that it gives, as one consistent snapshot. */
export interface LoadedRole {
  readonly role: RoleRecord;
  /** In ascending order of name; those that were deleted are not among them. */
  readonly permissions: readonly NamedGrant[];
}

/** Most roles and most permissions that a key holds itself. */
export const MAX_HELD = { roles: 100, permissions: 1_000 } as const;
