import type { DryRunOutcome } from "../verification/dry-run.js";
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
import { addPermissions, addPermissionsInput } from "./keys/add-permissions.js";
import { addRoles, addRolesInput } from "./keys/add-roles.js";
import { createKey, createKeyInput } from "./keys/create-key.js";
import { createKeys, createKeysInput } from "./keys/create-keys.js";
import { deleteKey, deleteKeyInput } from "./keys/delete-key.js";
import { deleteKeys, deleteKeysInput } from "./keys/delete-keys.js";
import { getKey, getKeyInput } from "./keys/get-key.js";
import { listKeys, listKeysInput } from "./keys/list-keys.js";
import { reencryptKeys, reencryptKeysInput } from "./keys/reencrypt-keys.js";
import { removePermissions, removePermissionsInput } from "./keys/remove-permissions.js";
import { removeRoles, removeRolesInput } from "./keys/remove-roles.js";
import { rotateKey, rotateKeyInput } from "./keys/rotate-key.js";
import { setPermissions, setPermissionsInput } from "./keys/set-permissions.js";
import { setRoles, setRolesInput } from "./keys/set-roles.js";
import { updateKey, updateKeyInput } from "./keys/update-key.js";
import { updateRemaining, updateRemainingInput } from "./keys/update-remaining.js";
import { whoami, whoamiInput } from "./keys/whoami.js";
import { createPermission, createPermissionInput } from "./permissions/create-permission.js";
import { deletePermission, deletePermissionInput } from "./permissions/delete-permission.js";
import { getPermission, getPermissionInput } from "./permissions/get-permission.js";
import { listPermissions } from "./permissions/list-permissions.js";
import { limit, limitInput } from "./rate-limits/limit.js";
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
  setWorkspaceEnabled,
  setWorkspaceEnabledInput,
} from "./workspaces/set-workspace-enabled.js";

/** An operation: how it runs, and what its input must be; null: it takes none, or checks it by itself. */
interface Entry<Run, Input> {
  readonly run: Run;
  readonly input: Input;
}

/** The types of {@link OPERATIONS}. They are written down because inferred ones are printed in full, ten times as long. */
interface OperationTable {
  /** Creates a key space: `{ name, deleteProtection?, ipWhitelist? }` → `{ apiId }`. */
  readonly createApi: Entry<typeof createApi, typeof createApiInput>;
  /** `{ apiId }` → `{ id, name, workspaceId, deleteProtection?, ipWhitelist? }`. */
  readonly getApi: Entry<typeof getApi, typeof getApiInput>;
  /** The APIs of the workspace, page by page. */
  readonly listApis: Entry<typeof listApis, typeof listApisInput>;
  /** Changes an API's name, its protection from being deleted, or the addresses that its keys may be used from. */
  readonly updateApi: Entry<typeof updateApi, typeof updateApiInput>;
  /** Deletes an API; its keys stop verifying at once. */
  readonly deleteApi: Entry<typeof deleteApi, typeof deleteApiInput>;
  /** Issues a key: `{ apiId, prefix, expires, remaining, refill, ratelimit, … }` → `{ keyId, key }`. */
  readonly createKey: Entry<typeof createKey, typeof createKeyInput>;
  /** Takes over up to 100 keys of another system, by hash or plaintext, all or none: → `{ keyIds }`. */
  readonly createKeys: Entry<typeof createKeys, typeof createKeysInput>;
  /**
   * Decides whether a presented secret is good, and takes what that costs, in one atomic step. With `dryRun: true` nothing is
   * taken, and the answer holds each check with what it saw.
   */
  readonly verifyKey: Entry<typeof verifyKey, typeof verifyKeyInput>;
  /** The dry run of a verification by the id of the key: `{ keyId, apiId?, ipAddress?, … }`. */
  readonly explainKey: Entry<typeof explainKey, typeof explainKeyInput>;
  /** What a secret is the key of, without charging: `{ key }` → `{ id, name?, enabled, … }`. */
  readonly whoami: Entry<typeof whoami, typeof whoamiInput>;
  /** One key, as lists show it. */
  readonly getKey: Entry<typeof getKey, typeof getKeyInput>;
  /** The keys of an API, page by page. */
  readonly listKeys: Entry<typeof listKeys, typeof listKeysInput>;
  /** Changes a key: omitted is unchanged, null is cleared. */
  readonly updateKey: Entry<typeof updateKey, typeof updateKeyInput>;
  /** Sets, raises or lowers the uses left: `{ keyId, op, value }` → `{ remaining? }`. */
  readonly updateRemaining: Entry<typeof updateRemaining, typeof updateRemainingInput>;
  /** Replaces a key by one with a new secret and the same counters: `{ keyId, graceMs? }` → `{ keyId, key }`. */
  readonly rotateKey: Entry<typeof rotateKey, typeof rotateKeyInput>;
  /** Gives a key further roles: `{ keyId, roles }` → `{ roles }`, all that it then holds itself. */
  readonly addRoles: Entry<typeof addRoles, typeof addRolesInput>;
  /** Makes these all the roles that a key holds itself. */
  readonly setRoles: Entry<typeof setRoles, typeof setRolesInput>;
  /** Takes roles from a key. */
  readonly removeRoles: Entry<typeof removeRoles, typeof removeRolesInput>;
  /** Gives a key further permissions: `{ keyId, permissions }` → `{ permissions }`, all that it then holds itself. */
  readonly addPermissions: Entry<typeof addPermissions, typeof addPermissionsInput>;
  /** Makes these all the permissions that a key holds itself. */
  readonly setPermissions: Entry<typeof setPermissions, typeof setPermissionsInput>;
  /** Takes permissions from a key. */
  readonly removePermissions: Entry<typeof removePermissions, typeof removePermissionsInput>;
  /** Deletes a key; it stops verifying at once. */
  readonly deleteKey: Entry<typeof deleteKey, typeof deleteKeyInput>;
  /** Deletes every key of an API: `{ apiId }` → `{ deletedKeys }`. */
  readonly deleteKeys: Entry<typeof deleteKeys, typeof deleteKeysInput>;
  /** Seals recoverable secrets with the vault's current key, a page at a time. */
  readonly reencryptKeys: Entry<typeof reencryptKeys, typeof reencryptKeysInput>;
  /** `{ externalId, meta?, ratelimits? }` → `{ identityId }`. */
  readonly createIdentity: Entry<typeof createIdentity, typeof createIdentityInput>;
  /** `{ identityId?, externalId? }` → the identity with metadata and limits. */
  readonly getIdentity: Entry<typeof getIdentity, typeof getIdentityInput>;
  /** The identities of the workspace, page by page. */
  readonly listIdentities: Entry<typeof listIdentities, typeof listIdentitiesInput>;
  /** Changes metadata or limits of an identity and answers it as it is then. */
  readonly updateIdentity: Entry<typeof updateIdentity, typeof updateIdentityInput>;
  /** Deletes an identity; its keys live on without one: → `{ keys: "unlinked" }`. */
  readonly deleteIdentity: Entry<typeof deleteIdentity, typeof deleteIdentityInput>;
  /** Takes from a rate limit that belongs to no key: `{ namespace, identifier, limit, duration, cost? }`. */
  readonly limit: Entry<typeof limit, typeof limitInput>;
  /** Empties a rate limit of a key, an identity or a namespace: its next use opens a new window. */
  readonly resetLimit: Entry<typeof resetLimit, typeof resetLimitInput>;
  /** `{ name, description? }` → `{ permissionId }`. */
  readonly createPermission: Entry<typeof createPermission, typeof createPermissionInput>;
  /** `{ permissionId }` → `{ id, name, description? }`. */
  readonly getPermission: Entry<typeof getPermission, typeof getPermissionInput>;
  /** All permissions of the workspace, as a list. */
  readonly listPermissions: Entry<typeof listPermissions, null>;
  /** Deletes a permission; no key and no role has it any more. */
  readonly deletePermission: Entry<typeof deletePermission, typeof deletePermissionInput>;
  /** `{ name, description?, permissions? }` → `{ roleId }`. */
  readonly createRole: Entry<typeof createRole, typeof createRoleInput>;
  /** `{ roleId }` → `{ id, name, description?, permissions }`. */
  readonly getRole: Entry<typeof getRole, typeof getRoleInput>;
  /** All roles of the workspace with their permissions, as a list. */
  readonly listRoles: Entry<typeof listRoles, null>;
  /** Makes these the permissions of a role: `{ roleId, permissions }`. Its keys see it at once. */
  readonly setRolePermissions: Entry<typeof setRolePermissions, typeof setRolePermissionsInput>;
  /** Deletes a role; no key has it any more. */
  readonly deleteRole: Entry<typeof deleteRole, typeof deleteRoleInput>;
  /** Creates a key that authorises management calls: `{ permissions, name?, expires? }` → `{ rootKeyId, key }`. */
  readonly createRootKey: Entry<typeof createRootKey, typeof createRootKeyInput>;
  /** The root keys of the workspace, page by page, without their secrets. */
  readonly listRootKeys: Entry<typeof listRootKeys, typeof listRootKeysInput>;
  /** Revokes a root key: `{ rootKeyId }`. It authorises no call that starts later. */
  readonly revokeRootKey: Entry<typeof revokeRootKey, typeof revokeRootKeyInput>;
  /** Whose root key a management token is, of whatever workspace. */
  readonly authenticateRootKey: Entry<typeof authenticateRootKey, null>;
  /** Creates a workspace with a new id: `{ name? }` → `{ workspaceId }`. */
  readonly createWorkspace: Entry<typeof createWorkspace, typeof createWorkspaceInput>;
  /** How often a key, an identity's keys or an API's were verified, by verdict, hour by hour, day by day or by month. */
  readonly getVerifications: Entry<typeof getVerifications, typeof getVerificationsInput>;
  /** Deletes counts of verifications: `{ before }` → `{ deleted }`. */
  readonly pruneVerifications: Entry<typeof pruneVerifications, typeof pruneVerificationsInput>;
  /** What was changed, by whom and how, page by page, the latest first: `{ keyId? | identityId? | actor? }`. */
  readonly listAuditEvents: Entry<typeof listAuditEvents, typeof listAuditEventsInput>;
  /** Deletes entries of the audit log: `{ before }` → `{ deleted }`. */
  readonly pruneAuditEvents: Entry<typeof pruneAuditEvents, typeof pruneAuditEventsInput>;
  /** The workspace itself: `{ id, name?, enabled }`. */
  readonly getWorkspace: Entry<typeof getWorkspace, null>;
  /** Whether the workspace is switched on. */
  readonly isWorkspaceEnabled: Entry<typeof isWorkspaceEnabled, null>;
  /** Switches the workspace on or off. */
  readonly setWorkspaceEnabled: Entry<typeof setWorkspaceEnabled, typeof setWorkspaceEnabledInput>;
}

/**
 * Every operation. What callers can use, and what is served over HTTP, are made from it.
 */
export const OPERATIONS: OperationTable = {
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
};

/** Name of an operation. */
export type OperationName = keyof OperationTable;

/** An operation as it is called: bound to its workspace. */
type Bound<Run> = Run extends (context: OperationContext, ...rest: infer Rest) => infer Result
  ? (...rest: Rest) => Result
  : never;

type VerifyKey = Bound<typeof verifyKey>;

/** A dry run answers every check, too. */
interface VerifyOrDryRun {
  (
    input: Parameters<VerifyKey>[0] & { readonly dryRun: true },
    scope?: Parameters<VerifyKey>[1],
  ): Promise<DryRunOutcome>;
  (...rest: Parameters<VerifyKey>): ReturnType<VerifyKey>;
}

/** Every operation, in one workspace. */
export type Operations = {
  readonly [Name in OperationName]: Name extends "verifyKey"
    ? VerifyOrDryRun
    : Bound<OperationTable[Name]["run"]>;
};

/** Binds every operation to its workspace and to what all of them work with. */
export function bindOperations(context: OperationContext): Operations {
  const bound = Object.entries(OPERATIONS).map(([name, operation]) => {
    const run = operation.run as (context: OperationContext, ...rest: unknown[]) => unknown;
    // No operation takes more than an input and a scope, and to gather and spread them would cost every call.
    return [name, (input: unknown, scope: unknown) => run(context, input, scope)];
  });
  return Object.fromEntries(bound) as Operations;
}
