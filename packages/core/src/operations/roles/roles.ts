import { z } from "zod";
import type { AuditFields } from "../../audit/entry.js";
import { changesNothing } from "../../audit/entry.js";
import { type RoleRecord, roleType } from "../../records/role.js";
import { StaleReadError, type Transaction } from "../../store/transaction.js";
import type { NamedGrant } from "../../verification/loaded-key.js";
import { type Audit, nameTaken, notFound, type OperationContext, transact } from "../context.js";
import { deleteRecord, withoutReadableRecord } from "../damaged.js";
import { description, grantName, id, list, parseInput } from "../input.js";
import { namesOf } from "../keys/update-key.js";
import { readAll, readRecord, readRecordIn, untilSteady } from "../read.js";
import { References } from "../references.js";
import type { Run, TableOf } from "../run.js";
import type { PermissionOperations, RoleView } from "./operations.js";

const permissions = list(grantName, 1_000, "names");

const roleReference = z.strictObject({ roleId: id });

const createRoleInput = z.strictObject({
  name: grantName,
  description: description.optional(),
  permissions: permissions.optional(),
});

const setRolePermissionsInput = z.strictObject({ roleId: id, permissions });

const ensureRoleInput = z.strictObject({ name: grantName, permissions });

/** What a role is written with. */
interface RoleParts {
  readonly context: OperationContext;
  readonly transaction: Transaction;
  readonly audit: Audit;
  readonly references: References;
}

const createRole: Run<PermissionOperations["createRole"]> = async (context, input) => {
  const settings = parseInput(createRoleInput, input);
  const { answer: roleId } = await transact(context, async (transaction, audit) => {
    const want = { kind: "role", index: "name", value: settings.name, expects: "nothing" } as const;
    if ((await transaction.readOne(want)) !== null) throw nameTaken("role");
    const references = new References(context, transaction, audit, context.now());
    const parts = { context, transaction, audit, references };
    return insertRole(parts, settings, () => nameTaken("role"));
  });
  return { roleId };
};

const ensureRole: Run<PermissionOperations["ensureRole"]> = async (context, input) => {
  const { name, permissions } = parseInput(ensureRoleInput, input);
  const { answer } = await transact(context, async (transaction, audit) => {
    const references = new References(context, transaction, audit, context.now(), true);
    const parts = { context, transaction, audit, references };
    const loaded = await transaction.readOne({ kind: "role", index: "name", value: name });
    if (loaded === null)
      return { roleId: await insertRole(parts, { name, permissions }), created: true };
    const role = roleType.decode(loaded.record, context.workspaceId);
    await replacePermissions(parts, role, permissions);
    return { roleId: role.id, created: false };
  });
  return answer;
};

/** @param onTaken - The error where the name is taken. Without it the transaction runs again, and finds that role. */
async function insertRole(
  { context, transaction, audit, references }: RoleParts,
  { name, description, permissions = [] }: z.output<typeof createRoleInput>,
  onTaken?: () => Error,
): Promise<string> {
  references.needGrants("permission", permissions);
  await references.read();
  const role: RoleRecord = {
    id: context.newId("role"),
    workspaceId: context.workspaceId,
    name,
    description: description || null,
    permissions: references.grantIds("permission", permissions),
    createdAt: context.now(),
    version: 1,
  };
  references.refuseMissing();
  transaction.insert(roleType, role, { onTaken });
  audit({
    type: "role.created",
    at: role.createdAt,
    resourceId: role.id,
    after: roleFields(role, permissions),
  });
  return role.id;
}

const getRole: Run<PermissionOperations["getRole"]> = async (context, input) => {
  const { roleId } = parseInput(roleReference, input);
  const { values, permissions } = await loadRoles(context, async () => {
    const want = { kind: "role", id: roleId } as const;
    const { value, revision } = await readRecord(context, roleType, want, "role");
    return { values: [value], revision };
  });
  return toRoleView(values[0] as RoleRecord, permissions[0] ?? []);
};

const listRoles: Run<PermissionOperations["listRoles"]> = async (context) => {
  const { values, permissions } = await loadRoles(context, () => readAll(context, roleType));
  return values.map((role, index) => toRoleView(role, permissions[index] ?? []));
};

const setRolePermissions: Run<PermissionOperations["setRolePermissions"]> = async (
  context,
  input,
) => {
  const { roleId, permissions } = parseInput(setRolePermissionsInput, input);
  await transact(context, async (transaction, audit) => {
    const want = { kind: "role", id: roleId } as const;
    const { value: role } = await readRecordIn(transaction, roleType, want, "role");
    const references = new References(context, transaction, audit, context.now());
    await replacePermissions({ context, transaction, audit, references }, role, permissions);
  });
  return {};
};

/** Gives a role that the transaction has read exactly these permissions; writes nothing where it has them. */
async function replacePermissions(
  { context, transaction, audit, references }: RoleParts,
  role: RoleRecord,
  permissions: readonly string[],
): Promise<void> {
  const held = await permissionsOf(context, transaction, role);
  references.needGrants("permission", permissions);
  await references.read();
  const after: RoleRecord = {
    ...role,
    permissions: references.grantIds("permission", permissions),
  };
  references.refuseMissing();
  const change = {
    type: "role.updated",
    resourceId: role.id,
    before: roleFields(role, held),
    after: roleFields(after, permissions),
  } as const;
  if (changesNothing(change)) return;
  transaction.update(roleType, role, after);
  transaction.renewRevision();
  audit(change);
}

const deleteRole: Run<PermissionOperations["deleteRole"]> = async (context, input) => {
  const { roleId } = parseInput(roleReference, input);
  await transact(context, async (transaction, audit) => {
    const role = await deleteRecord(transaction, roleType, roleId);
    if (role === undefined) throw notFound("role");
    transaction.renewRevision();
    const deletion = { type: "role.deleted", resourceId: roleId } as const;
    const unreadable = async () => audit({ ...deletion, unreadable: true });
    if (role === null) return unreadable();
    await withoutReadableRecord(async () => {
      const held = await permissionsOf(context, transaction, role);
      audit({ ...deletion, before: roleFields(role, held) });
    }, unreadable);
  });
  return {};
};

/** Names of the permissions of a role that was read in this transaction. */
async function permissionsOf(
  { catalog, workspaceId }: OperationContext,
  { revision }: Transaction,
  role: RoleRecord,
): Promise<readonly string[]> {
  const held = await catalog.loadRoles(workspaceId, revision, [role]);
  if (held === null) throw new StaleReadError();
  return namesOf(held[0] ?? []);
}

/** Reads roles until their permissions could be read at the same revision. */
async function loadRoles(
  { catalog, workspaceId }: Pick<OperationContext, "catalog" | "workspaceId">,
  read: () => Promise<{ readonly values: readonly RoleRecord[]; readonly revision: number }>,
): Promise<{
  readonly values: readonly RoleRecord[];
  /** Of each role, in ascending order of name. */
  readonly permissions: readonly (readonly NamedGrant[])[];
}> {
  return untilSteady(
    "the permissions of the roles kept changing while they were read",
    async () => {
      const { values, revision } = await read();
      const permissions = await catalog.loadRoles(workspaceId, revision, values);
      return permissions === null ? undefined : { values, permissions };
    },
  );
}

function toRoleView(
  { id, name, description }: RoleRecord,
  permissions: readonly NamedGrant[],
): RoleView {
  return {
    id,
    name,
    ...(description !== null && { description }),
    permissions: permissions.map((permission) => permission.name),
  };
}

/**
 * The settings of a role in the words of the HTTP contract, for the audit log.
 *
 * @param permissions - Names, in any order; one that is given twice counts once.
 */
function roleFields(
  { name, description }: { readonly name: string; readonly description: string | null },
  permissions: readonly string[],
): AuditFields {
  const names = [...new Set(permissions)].sort();
  return { name, description, permissions: names.length === 0 ? null : names };
}

/** How those of {@link PermissionOperations} run that are about roles. */
export const ROLE_TABLE = {
  createRole: { run: createRole, input: createRoleInput },
  ensureRole: { run: ensureRole, input: ensureRoleInput },
  getRole: { run: getRole, input: roleReference },
  listRoles: { run: listRoles, input: null },
  setRolePermissions: { run: setRolePermissions, input: setRolePermissionsInput },
  deleteRole: { run: deleteRole, input: roleReference },
} satisfies Partial<TableOf<PermissionOperations>>;
