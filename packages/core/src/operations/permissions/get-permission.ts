import { z } from "zod";
import { permissionType } from "../../records/permission.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { readRecord } from "../read-record.js";
import { type PermissionView, toPermissionView } from "../roles/view.js";

/** Input of getPermission. */
export interface GetPermissionInput {
  /** Id of the permission. */
  readonly permissionId: string;
}

/** Schema of the input of getPermission. */
export const getPermissionInput = z.strictObject({ permissionId: id });

/** @see PermissionOperations.getPermission */
export async function getPermission(
  context: OperationContext,
  input: GetPermissionInput,
): Promise<PermissionView> {
  const { permissionId } = parseInput(getPermissionInput, input);
  const want = { kind: "permission", id: permissionId } as const;
  const { value } = await readRecord(context, permissionType, want, "permission");
  return toPermissionView(value);
}
