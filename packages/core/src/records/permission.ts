import type { EpochMs } from "../time.js";
import { defineRecord, type RecordHead } from "./record-type.js";

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
