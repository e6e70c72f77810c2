import { z } from "zod";
import type { AuditFields } from "../../audit/entry.js";
import { type PermissionRecord, permissionType } from "../../records/permission.js";
import { nameTaken, notFound, transact } from "../context.js";
import { deletedFields, deleteRecord } from "../damaged.js";
import { description, grantName, id, list, parseInput } from "../input.js";
import { readAll, readRecord } from "../read.js";
import { References } from "../references.js";
import type { Run, TableOf } from "../run.js";
import type { PermissionOperations, PermissionView } from "./operations.js";

const permissionReference = z.strictObject({ permissionId: id });

const createPermissionInput = z.strictObject({
  name: grantName,
  description: description.optional(),
});

const createPermission: Run<PermissionOperations["createPermission"]> = async (context, input) => {
  const parsed = parseInput(createPermissionInput, input);
  const now = context.now();
  const permission: PermissionRecord = {
    id: context.newId("perm"),
    workspaceId: context.workspaceId,
    name: parsed.name,
    description: parsed.description || null,
    createdAt: now,
  };
  await transact(context, async (transaction, audit) => {
    transaction.insert(permissionType, permission, { onTaken: () => nameTaken("permission") });
    audit({
      type: "permission.created",
      at: now,
      resourceId: permission.id,
      after: permissionFields(permission),
    });
  });
  return { permissionId: permission.id };
};

const ensurePermissionsInput = list(grantName, 1_000, "names");

const ensurePermissions: Run<PermissionOperations["ensurePermissions"]> = async (
  context,
  input,
) => {
  const names = [...new Set(parseInput(ensurePermissionsInput, input))];
  const { answer } = await transact(context, async (transaction, audit) => {
    const references = new References(context, transaction, audit, context.now(), true);
    references.needGrants("permission", names);
    await references.read(true);
    const created = references.missing("permission", names);
    references.grantIds("permission", names);
    return { created };
  });
  return answer;
};

const getPermission: Run<PermissionOperations["getPermission"]> = async (context, input) => {
  const { permissionId } = parseInput(permissionReference, input);
  const want = { kind: "permission", id: permissionId } as const;
  const { value } = await readRecord(context, permissionType, want, "permission");
  return toPermissionView(value);
};

const listPermissions: Run<PermissionOperations["listPermissions"]> = async (context) => {
  const { values } = await readAll(context, permissionType);
  return values.map(toPermissionView);
};

const deletePermission: Run<PermissionOperations["deletePermission"]> = async (context, input) => {
  const { permissionId } = parseInput(permissionReference, input);
  await transact(context, async (transaction, audit) => {
    const permission = await deleteRecord(transaction, permissionType, permissionId);
    if (permission === undefined) throw notFound("permission");
    transaction.renewRevision();
    const deletion = { type: "permission.deleted", resourceId: permissionId } as const;
    audit({ ...deletion, ...deletedFields(permission, permissionFields) });
  });
  return {};
};

function permissionFields({ name, description }: PermissionRecord): AuditFields {
  return { name, description };
}

function toPermissionView({ id, name, description }: PermissionRecord): PermissionView {
  return { id, name, ...(description !== null && { description }) };
}

/** How those of {@link PermissionOperations} run that are about permissions. */
export const PERMISSION_TABLE = {
  createPermission: { run: createPermission, input: createPermissionInput },
  ensurePermissions: { run: ensurePermissions, input: ensurePermissionsInput },
  getPermission: { run: getPermission, input: permissionReference },
  listPermissions: { run: listPermissions, input: null },
  deletePermission: { run: deletePermission, input: permissionReference },
} satisfies Partial<TableOf<PermissionOperations>>;
