import { z } from "zod";
import type { AuditFields } from "../../audit/entry.js";
import { type PermissionRecord, permissionType } from "../../records/permission.js";
import { nameTaken, notFound, transact } from "../context.js";
import { deletedFields, deleteRecord } from "../damaged.js";
import { description, grantName, grantNames, id } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { readAll, readRecord } from "../read.js";
import { References } from "../references.js";
import type { PermissionOperations, PermissionView } from "./operations.js";

const permissionReference = z.strictObject({ permissionId: id });

const createPermissionInput = z.strictObject({
  name: grantName,
  description: description.optional(),
});

export const PERMISSION_TABLE = {
  createPermission: operation(createPermissionInput, async (context, { name, description }) => {
    const createdAt = context.now();
    const permission: PermissionRecord = {
      id: context.newId("perm"),
      workspaceId: context.workspaceId,
      name,
      description: description || null,
      createdAt,
    };
    return transact(context, async ({ transaction, audit }) => {
      transaction.insert(permissionType, permission, { onTaken: () => nameTaken("permission") });
      const after = permissionFields(permission);
      audit({ type: "permission.created", at: createdAt, resourceId: permission.id, after });
      return { permissionId: permission.id };
    });
  }),

  ensurePermissions: operation(grantNames, async (context, given) => {
    const names = [...new Set(given)];
    return transact(context, async (work) => {
      const references = new References(work, context.now(), true);
      references.needGrants("permission", names);
      await references.read(true);
      const created = references.missing("permission", names);
      references.grantIds("permission", names);
      return { created };
    });
  }),

  getPermission: operation(permissionReference, async (context, { permissionId }) => {
    const want = { kind: "permission", id: permissionId } as const;
    const { value } = await readRecord(context, permissionType, want);
    return toPermissionView(value);
  }),

  listPermissions: {
    input: null,
    run: async (context) => (await readAll(context, permissionType)).values.map(toPermissionView),
  },

  deletePermission: operation(permissionReference, (context, { permissionId }) =>
    transact(context, async ({ transaction, audit }) => {
      const permission = await deleteRecord(transaction, permissionType, permissionId);
      if (permission === undefined) throw notFound("permission");
      transaction.renewRevision();
      const deletion = { type: "permission.deleted", resourceId: permissionId } as const;
      audit({ ...deletion, ...deletedFields(permission, permissionFields) });
      return {};
    }),
  ),
} satisfies Partial<TableOf<PermissionOperations>>;

function permissionFields({ name, description }: PermissionRecord): AuditFields {
  return { name, description };
}

function toPermissionView({ id, name, description }: PermissionRecord): PermissionView {
  return { id, name, ...(description !== null && { description }) };
}
