import type { EpochMs } from "./time.js";

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
}
