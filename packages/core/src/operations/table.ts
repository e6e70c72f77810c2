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
import { verifyKeyInput } from "./verify-key/input.js";
import { verifyKey } from "./verify-key/verify-key.js";
import { createWorkspace, createWorkspaceInput } from "./workspaces/create-workspace.js";
import { getWorkspace, isWorkspaceEnabled } from "./workspaces/get-workspace.js";
import {
  setWorkspaceEnabled,
  setWorkspaceEnabledInput,
} from "./workspaces/set-workspace-enabled.js";

/**
 * Every operation, described once: how it runs and what its input must be (null: none, or checked by itself). What callers can
 * use, and what is served over HTTP, are made from it.
 */
export const OPERATIONS = {
  /** Creates a key space: `{ name, deleteProtection?, ipWhitelist? }` → `{ apiId }`. */
  createApi: { run: createApi, input: createApiInput },
  /** `{ apiId }` → `{ id, name, workspaceId, deleteProtection?, ipWhitelist? }`. */
  getApi: { run: getApi, input: getApiInput },
  /** The APIs of the workspace, page by page. */
  listApis: { run: listApis, input: listApisInput },
  /** Changes an API's name, its protection from being deleted, or the addresses that its keys may be used from. */
  updateApi: { run: updateApi, input: updateApiInput },
  /** Deletes an API; its keys stop verifying at once. */
  deleteApi: { run: deleteApi, input: deleteApiInput },
  /** Issues a key: `{ apiId, prefix, expires, remaining, refill, ratelimit, … }` → `{ keyId, key }`. */
  createKey: { run: createKey, input: createKeyInput },
  /** Takes over up to 100 keys of another system, by hash or plaintext, all or none: → `{ keyIds }`. */
  createKeys: { run: createKeys, input: createKeysInput },
  /**
   * Decides whether a presented secret is good, and takes what that costs, in one atomic step. With `dryRun: true` nothing is
   * taken, and the answer holds each check with what it saw.
   */
  verifyKey: { run: verifyKey, input: verifyKeyInput },
  /** What a secret is the key of, without charging: `{ key }` → `{ id, name?, enabled, … }`. */
  whoami: { run: whoami, input: whoamiInput },
  /** One key, as lists show it. */
  getKey: { run: getKey, input: getKeyInput },
  /** The keys of an API, page by page. */
  listKeys: { run: listKeys, input: listKeysInput },
  /** Changes a key: omitted is unchanged, null is cleared. */
  updateKey: { run: updateKey, input: updateKeyInput },
  /** Sets, raises or lowers the uses left: `{ keyId, op, value }` → `{ remaining? }`. */
  updateRemaining: { run: updateRemaining, input: updateRemainingInput },
  /** Replaces a key by one with a new secret and the same counters: `{ keyId, graceMs? }` → `{ keyId, key }`. */
  rotateKey: { run: rotateKey, input: rotateKeyInput },
  /** Gives a key further roles: `{ keyId, roles }` → `{ roles }`, all that it then holds itself. */
  addRoles: { run: addRoles, input: addRolesInput },
  /** Makes these all the roles that a key holds itself. */
  setRoles: { run: setRoles, input: setRolesInput },
  /** Takes roles from a key. */
  removeRoles: { run: removeRoles, input: removeRolesInput },
  /** Gives a key further permissions: `{ keyId, permissions }` → `{ permissions }`, all that it then holds itself. */
  addPermissions: { run: addPermissions, input: addPermissionsInput },
  /** Makes these all the permissions that a key holds itself. */
  setPermissions: { run: setPermissions, input: setPermissionsInput },
  /** Takes permissions from a key. */
  removePermissions: { run: removePermissions, input: removePermissionsInput },
  /** Deletes a key; it stops verifying at once. */
  deleteKey: { run: deleteKey, input: deleteKeyInput },
  /** Deletes every key of an API: `{ apiId }` → `{ deletedKeys }`. */
  deleteKeys: { run: deleteKeys, input: deleteKeysInput },
  /** Seals recoverable secrets with the vault's current key, a page at a time. */
  reencryptKeys: { run: reencryptKeys, input: reencryptKeysInput },
  /** `{ externalId, meta?, ratelimits? }` → `{ identityId }`. */
  createIdentity: { run: createIdentity, input: createIdentityInput },
  /** `{ identityId?, externalId? }` → the identity with metadata and limits. */
  getIdentity: { run: getIdentity, input: getIdentityInput },
  /** The identities of the workspace, page by page. */
  listIdentities: { run: listIdentities, input: listIdentitiesInput },
  /** Changes metadata or limits of an identity and answers it as it is then. */
  updateIdentity: { run: updateIdentity, input: updateIdentityInput },
  /** Deletes an identity; its keys live on without one: → `{ keys: "unlinked" }`. */
  deleteIdentity: { run: deleteIdentity, input: deleteIdentityInput },
  /** Takes from a rate limit that belongs to no key: `{ namespace, identifier, limit, duration, cost? }`. */
  limit: { run: limit, input: limitInput },
  /** Empties a rate limit of a key, an identity or a namespace: its next use opens a new window. */
  resetLimit: { run: resetLimit, input: resetLimitInput },
  /** `{ name, description? }` → `{ permissionId }`. */
  createPermission: { run: createPermission, input: createPermissionInput },
  /** `{ permissionId }` → `{ id, name, description? }`. */
  getPermission: { run: getPermission, input: getPermissionInput },
  /** All permissions of the workspace, as a list. */
  listPermissions: { run: listPermissions, input: null },
  /** Deletes a permission; no key and no role has it any more. */
  deletePermission: { run: deletePermission, input: deletePermissionInput },
  /** `{ name, description?, permissions? }` → `{ roleId }`. */
  createRole: { run: createRole, input: createRoleInput },
  /** `{ roleId }` → `{ id, name, description?, permissions }`. */
  getRole: { run: getRole, input: getRoleInput },
  /** All roles of the workspace with their permissions, as a list. */
  listRoles: { run: listRoles, input: null },
  /** Makes these the permissions of a role: `{ roleId, permissions }`. Its keys see it at once. */
  setRolePermissions: { run: setRolePermissions, input: setRolePermissionsInput },
  /** Deletes a role; no key has it any more. */
  deleteRole: { run: deleteRole, input: deleteRoleInput },
  /** Creates a key that authorises management calls: `{ permissions, name?, expires? }` → `{ rootKeyId, key }`. */
  createRootKey: { run: createRootKey, input: createRootKeyInput },
  /** The root keys of the workspace, page by page, without their secrets. */
  listRootKeys: { run: listRootKeys, input: listRootKeysInput },
  /** Revokes a root key: `{ rootKeyId }`. It authorises no call that starts later. */
  revokeRootKey: { run: revokeRootKey, input: revokeRootKeyInput },
  /** Whose root key a management token is, of whatever workspace. */
  authenticateRootKey: { run: authenticateRootKey, input: null },
  /** Creates a workspace with a new id: `{ name? }` → `{ workspaceId }`. */
  createWorkspace: { run: createWorkspace, input: createWorkspaceInput },
  /** How often a key, an identity's keys or an API's were verified, by verdict, hour by hour, day by day or by month. */
  getVerifications: { run: getVerifications, input: getVerificationsInput },
  /** Deletes counts of verifications: `{ before }` → `{ deleted }`. */
  pruneVerifications: { run: pruneVerifications, input: pruneVerificationsInput },
  /** What was changed, by whom and how, page by page, the latest first: `{ keyId? | identityId? | actor? }`. */
  listAuditEvents: { run: listAuditEvents, input: listAuditEventsInput },
  /** Deletes entries of the audit log: `{ before }` → `{ deleted }`. */
  pruneAuditEvents: { run: pruneAuditEvents, input: pruneAuditEventsInput },
  /** The workspace itself: `{ id, name?, enabled }`. */
  getWorkspace: { run: getWorkspace, input: null },
  /** Whether the workspace is switched on. */
  isWorkspaceEnabled: { run: isWorkspaceEnabled, input: null },
  /** Switches the workspace on or off. */
  setWorkspaceEnabled: { run: setWorkspaceEnabled, input: setWorkspaceEnabledInput },
} as const;

/** Name of an operation. */
export type OperationName = keyof typeof OPERATIONS;

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
    : Bound<(typeof OPERATIONS)[Name]["run"]>;
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
