import { z } from "zod";
import { permissionType } from "../../records/permission.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { readRecord } from "../read-record.js";
import { type PermissionView, toPermissionView } from "../roles/view.js";

/** Input of getPermission. */
export const getPermissionInput = z.strictObject({ permissionId: id });

/** @throws LatchkeyError `NOT_FOUND` when this workspace has no such permission. */
export async function getPermission(
  context: OperationContext,
  input: z.input<typeof getPermissionInput>,
): Promise<PermissionView> {
  const { permissionId } = parseInput(getPermissionInput, input);
  const want = { kind: "permission", id: permissionId } as const;
  const { value } = await readRecord(context, permissionType, want, "permission");
  return toPermissionView(value);
}
