import { createApi, createApiInput } from "./apis/create-api.js";
import { deleteApi, deleteApiInput } from "./apis/delete-api.js";
import { getApi, getApiInput } from "./apis/get-api.js";
import { listApis, listApisInput } from "./apis/list-apis.js";
import { updateApi, updateApiInput } from "./apis/update-api.js";
import { listAuditEvents, listAuditEventsInput } from "./audit-log/list-audit-events.js";
import { pruneAuditEvents, pruneAuditEventsInput } from "./audit-log/prune-audit-events.js";
import type { OperationContext } from "./context.js";
import { createIdentity, createIdentityInput } from "./identities/create-identity.js";
import { deleteIdentity, deleteIdentityInput } from "./identities/delete-identity.js";
import { getIdentity, getIdentityInput } from "./identities/get-identity.js";
import { listIdentities, listIdentitiesInput } from "./identities/list-identities.js";
import { updateIdentity, updateIdentityInput } from "./identities/update-identity.js";
import type { InputSchema } from "./input.js";
import { addPermissions, addPermissionsInput } from "./keys/add-permissions.js";
import { addRoles, addRolesInput } from "./keys/add-roles.js";
import { createKey, createKeyInput } from "./keys/create-key.js";
import { type CreateKeysInput, createKeys, createKeysInput } from "./keys/create-keys.js";
import { deleteKey, deleteKeyInput } from "./keys/delete-key.js";
import { deleteKeys, deleteKeysInput } from "./keys/delete-keys.js";
import { findApiOfKey, findApiOfKeyInput } from "./keys/find-api-of-key.js";
import { getKey, getKeyInput } from "./keys/get-key.js";
import { listKeys, listKeysInput } from "./keys/list-keys.js";
import { reencryptKeys, reencryptKeysInput } from "./keys/reencrypt-keys.js";
import { removePermissions, removePermissionsInput } from "./keys/remove-permissions.js";
import { removeRoles, removeRolesInput } from "./keys/remove-roles.js";
import { rotateKey, rotateKeyInput } from "./keys/rotate-key.js";
import { setPermissions, setPermissionsInput } from "./keys/set-permissions.js";
import { setRoles, setRolesInput } from "./keys/set-roles.js";
import type { KeySettingsInput } from "./keys/settings.js";
import { updateKey, updateKeyInput } from "./keys/update-key.js";
import { updateRemaining, updateRemainingInput } from "./keys/update-remaining.js";
import { whoami, whoamiInput } from "./keys/whoami.js";
import type { OperationName, Operations } from "./operations.js";
import { createPermission, createPermissionInput } from "./permissions/create-permission.js";
import { deletePermission, deletePermissionInput } from "./permissions/delete-permission.js";
import { getPermission, getPermissionInput } from "./permissions/get-permission.js";
import { listPermissions } from "./permissions/list-permissions.js";
import { type LimitInput, limit, limitInput } from "./rate-limits/limit.js";
import { resetLimit, resetLimitInput } from "./rate-limits/reset-limit.js";
import { createRole, createRoleInput } from "./roles/create-role.js";
import { deleteRole, deleteRoleInput } from "./roles/delete-role.js";
import { getRole, getRoleInput } from "./roles/get-role.js";
import { listRoles } from "./roles/list-roles.js";
import { setRolePermissions, setRolePermissionsInput } from "./roles/set-role-permissions.js";
import { authenticateRootKey } from "./root-keys/authenticate-root-key.js";
import { createRootKey, createRootKeyInput } from "./root-keys/create-root-key.js";
import { listRootKeys, listRootKeysInput } from "./root-keys/list-root-keys.js";
import { revokeRootKey, revokeRootKeyInput } from "./root-keys/revoke-root-key.js";
import { getVerifications, getVerificationsInput } from "./statistics/get-verifications.js";
import { pruneVerifications, pruneVerificationsInput } from "./statistics/prune-verifications.js";
import { explainKey } from "./verify-key/explain-key.js";
import { explainKeyInput, verifyKeyInput } from "./verify-key/input.js";
import { verifyKey } from "./verify-key/verify-key.js";
import { createWorkspace, createWorkspaceInput } from "./workspaces/create-workspace.js";
import { getWorkspace, isWorkspaceEnabled } from "./workspaces/get-workspace.js";
import {
  type SetWorkspaceEnabledInput,
  setWorkspaceEnabled,
  setWorkspaceEnabledInput,
} from "./workspaces/set-workspace-enabled.js";

/** How an operation runs: as it is called, bound to nothing yet. */
type Run<Name extends OperationName> = (
  context: OperationContext,
  ...rest: Parameters<Operations[Name]>
) => ReturnType<Operations[Name]>;

/** An operation: how it runs, and what its input must be; null: it takes none, or checks it by itself. */
type AnyTable = {
  readonly [Name in OperationName]: { readonly run: Run<Name>; readonly input: InputSchema | null };
};

/** Every operation. */
const TABLE = {
  createApi: { run: createApi, input: createApiInput },
  getApi: { run: getApi, input: getApiInput },
  listApis: { run: listApis, input: listApisInput },
  updateApi: { run: updateApi, input: updateApiInput },
  deleteApi: { run: deleteApi, input: deleteApiInput },
  createKey: { run: createKey, input: createKeyInput },
  createKeys: { run: createKeys, input: createKeysInput },
  verifyKey: { run: verifyKey, input: verifyKeyInput },
  explainKey: { run: explainKey, input: explainKeyInput },
  whoami: { run: whoami, input: whoamiInput },
  findApiOfKey: { run: findApiOfKey, input: findApiOfKeyInput },
  getKey: { run: getKey, input: getKeyInput },
  listKeys: { run: listKeys, input: listKeysInput },
  updateKey: { run: updateKey, input: updateKeyInput },
  updateRemaining: { run: updateRemaining, input: updateRemainingInput },
  rotateKey: { run: rotateKey, input: rotateKeyInput },
  addRoles: { run: addRoles, input: addRolesInput },
  setRoles: { run: setRoles, input: setRolesInput },
  removeRoles: { run: removeRoles, input: removeRolesInput },
  addPermissions: { run: addPermissions, input: addPermissionsInput },
  setPermissions: { run: setPermissions, input: setPermissionsInput },
  removePermissions: { run: removePermissions, input: removePermissionsInput },
  deleteKey: { run: deleteKey, input: deleteKeyInput },
  deleteKeys: { run: deleteKeys, input: deleteKeysInput },
  reencryptKeys: { run: reencryptKeys, input: reencryptKeysInput },
  createIdentity: { run: createIdentity, input: createIdentityInput },
  getIdentity: { run: getIdentity, input: getIdentityInput },
  listIdentities: { run: listIdentities, input: listIdentitiesInput },
  updateIdentity: { run: updateIdentity, input: updateIdentityInput },
  deleteIdentity: { run: deleteIdentity, input: deleteIdentityInput },
  limit: { run: limit, input: limitInput },
  resetLimit: { run: resetLimit, input: resetLimitInput },
  createPermission: { run: createPermission, input: createPermissionInput },
  getPermission: { run: getPermission, input: getPermissionInput },
  listPermissions: { run: listPermissions, input: null },
  deletePermission: { run: deletePermission, input: deletePermissionInput },
  createRole: { run: createRole, input: createRoleInput },
  getRole: { run: getRole, input: getRoleInput },
  listRoles: { run: listRoles, input: null },
  setRolePermissions: { run: setRolePermissions, input: setRolePermissionsInput },
  deleteRole: { run: deleteRole, input: deleteRoleInput },
  createRootKey: { run: createRootKey, input: createRootKeyInput },
  listRootKeys: { run: listRootKeys, input: listRootKeysInput },
  revokeRootKey: { run: revokeRootKey, input: revokeRootKeyInput },
  authenticateRootKey: { run: authenticateRootKey, input: null },
  createWorkspace: { run: createWorkspace, input: createWorkspaceInput },
  getVerifications: { run: getVerifications, input: getVerificationsInput },
  pruneVerifications: { run: pruneVerifications, input: pruneVerificationsInput },
  listAuditEvents: { run: listAuditEvents, input: listAuditEventsInput },
  pruneAuditEvents: { run: pruneAuditEvents, input: pruneAuditEventsInput },
  getWorkspace: { run: getWorkspace, input: null },
  isWorkspaceEnabled: { run: isWorkspaceEnabled, input: null },
  setWorkspaceEnabled: { run: setWorkspaceEnabled, input: setWorkspaceEnabledInput },
} satisfies AnyTable;

/** Every operation with its own types. */
export type Table = typeof TABLE;

/** What an operation takes, as an object; never for one that takes none, or no object. */
type OperationInput<Name extends OperationName> = Name extends "setWorkspaceEnabled"
  ? SetWorkspaceEnabledInput
  : Extract<Parameters<Operations[Name]>[0], object>;

/** What the schema of an input answers, as far as it is known outside of core. */
type CheckedInput<Input> = Input extends CreateKeysInput
  ? readonly KeySettingsInput[]
  : Input extends LimitInput
    ? Input & { readonly namespace: string }
    : Input;

/** The schema of what each operation takes, by its name: what is served over HTTP is made from it. Null: it takes none. */
export const OPERATIONS: {
  readonly [Name in OperationName]: {
    readonly input: [OperationInput<Name>] extends [never]
      ? null
      : InputSchema<OperationInput<Name>, CheckedInput<OperationInput<Name>>>;
  };
} = TABLE;

/** Binds every operation to its workspace and to what all of them work with. */
export function bindOperations(context: OperationContext): Operations {
  const bound = Object.entries(TABLE).map(([name, operation]) => {
    const run = operation.run as (context: OperationContext, ...rest: unknown[]) => unknown;
    // No operation takes more than an input and a scope, and to gather and spread them would cost every call.
    return [name, (input: unknown, scope: unknown) => run(context, input, scope)];
  });
  return Object.fromEntries(bound) as Operations;
}
