import { z } from "zod";
import { type AuditFields, changesNothing } from "../../audit/entry.js";
import { type LatchkeyError, taken } from "../../errors.js";
import { withoutNull } from "../../lib/without-null.js";
import {
  type PermissionRecord,
  permissionType,
  type RoleRecord,
  roleType,
} from "../../records/grants.js";
import { unlessEmpty } from "../../records/record-type.js";
import { StaleReadError } from "../../store/transaction.js";
import { type NamedGrant, namesOf } from "../../verification/loaded-key.js";
import type { OperationContext, Work } from "../context.js";
import { deletedFields, deleteExisting, withoutReadableRecord } from "../damaged.js";
import { description, grantName, grantNames, id, optional } from "../input.js";
import { operation, type TableOf, write } from "../operation.js";
import { readAll, readRecord, readRecordIn, untilSteady } from "../read.js";
import { References } from "../references.js";
import type { PermissionOperations, PermissionView, RoleView } from "./operations.js";

const permissionReference = z.strictObject({ permissionId: id });

const createPermissionInput = z.strictObject({
  name: grantName,
  description: description.optional(),
});

const roleReference = z.strictObject({ roleId: id });

const createRoleInput = z.strictObject({
  name: grantName,
  ...optional({ description, permissions: grantNames }),
});

const setRolePermissionsInput = z.strictObject({ roleId: id, permissions: grantNames });

const ensureRoleInput = z.strictObject({ name: grantName, permissions: grantNames });

export const PERMISSION_TABLE = {
  createPermission: write(createPermissionInput, async (work, { name, description }) => {
    const { context, transaction, audit } = work;
    const permission: PermissionRecord = {
      id: context.newId("perm"),
      workspaceId: context.workspaceId,
      name,
      description: description || null,
      createdAt: context.now(),
    };
    transaction.insert(permissionType, permission, { onTaken: () => nameTaken("permission") });
    const { id: resourceId, createdAt: at } = permission;
    audit({ type: "permission.created", at, resourceId, after: permissionFields(permission) });
    return { permissionId: resourceId };
  }),

  ensurePermissions: write(grantNames, async (work, given) => {
    const names = [...new Set(given)];
    const references = referencesOf(work, true);
    references.needGrants("permission", names);
    await references.read(true);
    const created = references.missing("permission", names);
    references.grantIds("permission", names);
    return { created };
  }),

  getPermission: operation(permissionReference, async (context, { permissionId }) => {
    const { value } = await readRecord(context, permissionType, permissionId);
    return toPermissionView(value);
  }),

  listPermissions: {
    input: null,
    run: async (context) => (await readAll(context, permissionType)).values.map(toPermissionView),
  },

  deletePermission: write(permissionReference, async ({ transaction, audit }, { permissionId }) => {
    const permission = await deleteExisting(transaction, permissionType, permissionId);
    transaction.renewRevision();
    const deletion = { type: "permission.deleted", resourceId: permissionId } as const;
    audit({ ...deletion, ...deletedFields(permission, permissionFields) });
    return {};
  }),

  createRole: write(createRoleInput, async (work, settings) => {
    const want = { kind: "role", index: "name", value: settings.name, expects: "nothing" } as const;
    if ((await work.transaction.readOne(want)) !== null) throw nameTaken("role");
    const onTaken = () => nameTaken("role");
    return { roleId: await insertRole(work, referencesOf(work), settings, onTaken) };
  }),

  ensureRole: write(ensureRoleInput, async (work, { name, permissions }) => {
    const references = referencesOf(work, true);
    const want = { kind: "role", index: "name", value: name } as const;
    const loaded = await work.transaction.readOne(want);
    if (loaded === null)
      return { roleId: await insertRole(work, references, { name, permissions }), created: true };
    const role = roleType.decode(loaded.record, work.context.workspaceId);
    await replacePermissions(work, references, role, permissions);
    return { roleId: role.id, created: false };
  }),

  getRole: operation(roleReference, async (context, { roleId }) => {
    const [view] = await loadRoles(context, async () => {
      const { value, revision } = await readRecord(context, roleType, roleId);
      return { values: [value], revision };
    });
    return view as RoleView;
  }),

  listRoles: {
    input: null,
    run: (context) => loadRoles(context, () => readAll(context, roleType)),
  },

  setRolePermissions: write(setRolePermissionsInput, async (work, { roleId, permissions }) => {
    const { value: role } = await readRecordIn(work.transaction, roleType, roleId);
    await replacePermissions(work, referencesOf(work), role, permissions);
    return {};
  }),

  deleteRole: write(roleReference, async (work, { roleId }) => {
    const { transaction, audit } = work;
    const role = await deleteExisting(transaction, roleType, roleId);
    transaction.renewRevision();
    const deletion = { type: "role.deleted", resourceId: roleId } as const;
    const unreadable = async () => audit({ ...deletion, unreadable: true });
    const readable = async () => {
      if (role === null) return unreadable();
      const held = await permissionsOf(work, role);
      audit({ ...deletion, before: roleFields(role, held) });
    };
    await withoutReadableRecord(readable, unreadable);
    return {};
  }),
} satisfies TableOf<PermissionOperations>;

function permissionFields({ name, description }: PermissionRecord): AuditFields {
  return { name, description };
}

function toPermissionView({ id, name, description }: PermissionRecord): PermissionView {
  return withoutNull({ id, name, description });
}

function referencesOf(work: Work, createsMissing = false): References {
  return new References(work, work.context.now(), createsMissing);
}

/** `onTaken`: the error if the name is taken. Without it, the transaction runs again and finds that role. */
async function insertRole(
  { context, transaction, audit }: Work,
  references: References,
  { name, description, permissions = [] }: z.output<typeof createRoleInput>,
  onTaken?: () => Error,
): Promise<string> {
  references.needGrants("permission", permissions);
  await references.read();
  const [id, createdAt] = [context.newId("role"), context.now()];
  const role: RoleRecord = {
    id,
    workspaceId: context.workspaceId,
    name,
    description: description || null,
    permissions: references.grantIds("permission", permissions),
    createdAt,
    version: 1,
  };
  references.refuseMissing();
  transaction.insert(roleType, role, { onTaken });
  const after = roleFields(role, permissions);
  audit({ type: "role.created", at: createdAt, resourceId: id, after });
  return id;
}

/** Gives a role that the transaction has read exactly these permissions; writes nothing if it has them. */
async function replacePermissions(
  work: Work,
  references: References,
  role: RoleRecord,
  permissions: readonly string[],
): Promise<void> {
  const held = await permissionsOf(work, role);
  references.needGrants("permission", permissions);
  await references.read();
  const after = { ...role, permissions: references.grantIds("permission", permissions) };
  references.refuseMissing();
  const change = {
    type: "role.updated",
    resourceId: role.id,
    before: roleFields(role, held),
    after: roleFields(after, permissions),
  } as const;
  if (changesNothing(change)) return;
  work.transaction.update(roleType, role, after);
  work.transaction.renewRevision();
  work.audit(change);
}

/** Names of the permissions of a role that was read in this transaction. */
async function permissionsOf(
  { context: { catalog, workspaceId }, transaction }: Work,
  role: RoleRecord,
): Promise<readonly string[]> {
  const held = await catalog.loadRoles(workspaceId, transaction.revision, [role]);
  if (held === null) throw new StaleReadError();
  return namesOf(held[0] ?? []);
}

/** Reads roles until their permissions are of the same revision, and returns their views. */
async function loadRoles(
  { catalog, workspaceId }: OperationContext,
  read: () => Promise<{ readonly values: readonly RoleRecord[]; readonly revision: number }>,
): Promise<readonly RoleView[]> {
  return untilSteady(
    "the permissions of the roles kept changing while they were read",
    async () => {
      const { values, revision } = await read();
      const permissions = await catalog.loadRoles(workspaceId, revision, values);
      return permissions?.map((held, index) => toRoleView(values[index] as RoleRecord, held));
    },
  );
}

function toRoleView(
  { id, name, description }: RoleRecord,
  permissions: readonly NamedGrant[],
): RoleView {
  return withoutNull({ id, name, description, permissions: namesOf(permissions) });
}

/** The settings of a role for the audit log. `permissions`: names, in any order, possibly with repeats. */
function roleFields(
  { name, description }: { readonly name: string; readonly description: string | null },
  permissions: readonly string[],
): AuditFields {
  return { name, description, permissions: unlessEmpty([...new Set(permissions)].sort()) };
}

function nameTaken(what: "role" | "permission"): LatchkeyError {
  return taken("name", `a ${what} with this name already exists`);
}
