import type { DryRunOutcome } from "../verification/dry-run.js";
import { createApi } from "./apis/create-api.js";
import { deleteApi } from "./apis/delete-api.js";
import { getApi } from "./apis/get-api.js";
import { listApis } from "./apis/list-apis.js";
import { updateApi } from "./apis/update-api.js";
import { listAuditEvents } from "./audit-log/list-audit-events.js";
import { pruneAuditEvents } from "./audit-log/prune-audit-events.js";
import type { OperationContext } from "./context.js";
import { createIdentity } from "./identities/create-identity.js";
import { deleteIdentity } from "./identities/delete-identity.js";
import { getIdentity } from "./identities/get-identity.js";
import { listIdentities } from "./identities/list-identities.js";
import { updateIdentity } from "./identities/update-identity.js";
import { addPermissions } from "./keys/add-permissions.js";
import { addRoles } from "./keys/add-roles.js";
import { createKey } from "./keys/create-key.js";
import { createKeys } from "./keys/create-keys.js";
import { deleteKey } from "./keys/delete-key.js";
import { deleteKeys } from "./keys/delete-keys.js";
import { getKey } from "./keys/get-key.js";
import { listKeys } from "./keys/list-keys.js";
import { reencryptKeys } from "./keys/reencrypt-keys.js";
import { removePermissions } from "./keys/remove-permissions.js";
import { removeRoles } from "./keys/remove-roles.js";
import { rotateKey } from "./keys/rotate-key.js";
import { setPermissions } from "./keys/set-permissions.js";
import { setRoles } from "./keys/set-roles.js";
import { updateKey } from "./keys/update-key.js";
import { updateRemaining } from "./keys/update-remaining.js";
import { whoami } from "./keys/whoami.js";
import { createPermission } from "./permissions/create-permission.js";
import { deletePermission } from "./permissions/delete-permission.js";
import { getPermission } from "./permissions/get-permission.js";
import { listPermissions } from "./permissions/list-permissions.js";
import { limit } from "./rate-limits/limit.js";
import { resetLimit } from "./rate-limits/reset-limit.js";
import { createRole } from "./roles/create-role.js";
import { deleteRole } from "./roles/delete-role.js";
import { getRole } from "./roles/get-role.js";
import { listRoles } from "./roles/list-roles.js";
import { setRolePermissions } from "./roles/set-role-permissions.js";
import { authenticateRootKey } from "./root-keys/authenticate-root-key.js";
import { createRootKey } from "./root-keys/create-root-key.js";
import { listRootKeys } from "./root-keys/list-root-keys.js";
import { revokeRootKey } from "./root-keys/revoke-root-key.js";
import { getVerifications } from "./statistics/get-verifications.js";
import { pruneVerifications } from "./statistics/prune-verifications.js";
import { verifyKey } from "./verify-key/verify-key.js";
import { createWorkspace } from "./workspaces/create-workspace.js";
import { getWorkspace, isWorkspaceEnabled } from "./workspaces/get-workspace.js";
import { setWorkspaceEnabled } from "./workspaces/set-workspace-enabled.js";

/** An operation as it is called: bound to its workspace. */
type Bound<Operation> = Operation extends (
  context: OperationContext,
  ...rest: infer Rest
) => infer Result
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
export interface Operations {
  /** Makes a key space: `{ name, deleteProtection?, ipWhitelist? }` → `{ apiId }`. */
  readonly createApi: Bound<typeof createApi>;
  /** `{ apiId }` → `{ id, name, workspaceId, deleteProtection?, ipWhitelist? }`. */
  readonly getApi: Bound<typeof getApi>;
  /** The APIs of the workspace, page by page. */
  readonly listApis: Bound<typeof listApis>;
  /** Changes an API's name, its protection from being deleted, or the addresses that its keys may be used from. */
  readonly updateApi: Bound<typeof updateApi>;
  /** Deletes an API; its keys stop verifying at once. */
  readonly deleteApi: Bound<typeof deleteApi>;
  /** Issues a key: `{ apiId, prefix, expires, remaining, refill, ratelimit, … }` → `{ keyId, key }`. */
  readonly createKey: Bound<typeof createKey>;
  /** Takes over up to 100 keys of another system, by hash or plaintext, all or none: → `{ keyIds }`. */
  readonly createKeys: Bound<typeof createKeys>;
  /**
   * Decides whether a presented secret is good, and takes what that costs, in one atomic step. With `dryRun: true` nothing is
   * taken, and the answer holds each check with what it saw.
   */
  readonly verifyKey: VerifyOrDryRun;
  /** What a secret is the key of, without charging: `{ key }` → `{ id, name?, enabled, … }`. */
  readonly whoami: Bound<typeof whoami>;
  /** One key in its listed form. */
  readonly getKey: Bound<typeof getKey>;
  /** The keys of an API, page by page. */
  readonly listKeys: Bound<typeof listKeys>;
  /** Changes a key: omitted is unchanged, null is cleared. */
  readonly updateKey: Bound<typeof updateKey>;
  /** Sets, raises or lowers the uses left: `{ keyId, op, value }` → `{ remaining? }`. */
  readonly updateRemaining: Bound<typeof updateRemaining>;
  /** Puts a key with a new secret and the same counters in a key's place: `{ keyId, graceMs? }` → `{ keyId, key }`. */
  readonly rotateKey: Bound<typeof rotateKey>;
  /** Gives a key further roles: `{ keyId, roles }` → `{ roles }`, all that it then holds itself. */
  readonly addRoles: Bound<typeof addRoles>;
  /** Makes these all the roles that a key holds itself. */
  readonly setRoles: Bound<typeof setRoles>;
  /** Takes roles from a key. */
  readonly removeRoles: Bound<typeof removeRoles>;
  /** Gives a key further permissions: `{ keyId, permissions }` → `{ permissions }`, all that it then holds itself. */
  readonly addPermissions: Bound<typeof addPermissions>;
  /** Makes these all the permissions that a key holds itself. */
  readonly setPermissions: Bound<typeof setPermissions>;
  /** Takes permissions from a key. */
  readonly removePermissions: Bound<typeof removePermissions>;
  /** Deletes a key; it stops verifying at once. */
  readonly deleteKey: Bound<typeof deleteKey>;
  /** Deletes every key of an API: `{ apiId }` → `{ deletedKeys }`. */
  readonly deleteKeys: Bound<typeof deleteKeys>;
  /** Seals recoverable secrets with the vault's current key, a page at a time. */
  readonly reencryptKeys: Bound<typeof reencryptKeys>;
  /** `{ externalId, meta?, ratelimits? }` → `{ identityId }`. */
  readonly createIdentity: Bound<typeof createIdentity>;
  /** `{ identityId?, externalId? }` → the identity with metadata and limits. */
  readonly getIdentity: Bound<typeof getIdentity>;
  /** The identities of the workspace, page by page. */
  readonly listIdentities: Bound<typeof listIdentities>;
  /** Changes metadata or limits of an identity and answers it as it is then. */
  readonly updateIdentity: Bound<typeof updateIdentity>;
  /** Deletes an identity; its keys live on without one. */
  readonly deleteIdentity: Bound<typeof deleteIdentity>;
  /** Takes from a rate limit that belongs to no key: `{ namespace, identifier, limit, duration, cost? }`. */
  readonly limit: Bound<typeof limit>;
  /** Empties a rate limit of a key, an identity or a namespace: its next use opens a new window. */
  readonly resetLimit: Bound<typeof resetLimit>;
  /** `{ name, description? }` → `{ permissionId }`. */
  readonly createPermission: Bound<typeof createPermission>;
  /** `{ permissionId }` → `{ id, name, description? }`. */
  readonly getPermission: Bound<typeof getPermission>;
  /** All permissions of the workspace, as a list. */
  readonly listPermissions: Bound<typeof listPermissions>;
  /** Deletes a permission; no key and no role has it any more. */
  readonly deletePermission: Bound<typeof deletePermission>;
  /** `{ name, description?, permissions? }` → `{ roleId }`. */
  readonly createRole: Bound<typeof createRole>;
  /** `{ roleId }` → `{ id, name, description?, permissions }`. */
  readonly getRole: Bound<typeof getRole>;
  /** All roles of the workspace with their permissions, as a list. */
  readonly listRoles: Bound<typeof listRoles>;
  /** Makes these the permissions of a role: `{ roleId, permissions }`. Its keys see it at once. */
  readonly setRolePermissions: Bound<typeof setRolePermissions>;
  /** Deletes a role; no key has it any more. */
  readonly deleteRole: Bound<typeof deleteRole>;
  /** Makes a key that authorises management calls: `{ permissions, name?, expires? }` → `{ rootKeyId, key }`. */
  readonly createRootKey: Bound<typeof createRootKey>;
  /** The root keys of the workspace, page by page, without their secrets. */
  readonly listRootKeys: Bound<typeof listRootKeys>;
  /** Revokes a root key: `{ rootKeyId }`. It authorises no call that starts later. */
  readonly revokeRootKey: Bound<typeof revokeRootKey>;
  /** Whom a management token speaks for, whatever its workspace. */
  readonly authenticateRootKey: Bound<typeof authenticateRootKey>;
  /** Makes a workspace with a new id: `{ name? }` → `{ workspaceId }`. */
  readonly createWorkspace: Bound<typeof createWorkspace>;
  /** How often a key, an identity's keys or an API's were verified, by verdict, hour by hour, day by day or by month. */
  readonly getVerifications: Bound<typeof getVerifications>;
  /** Forgets counters of verifications: `{ before }` → `{ deleted }`. */
  readonly pruneVerifications: Bound<typeof pruneVerifications>;
  /** What was changed, by whom and how, page by page, the latest first: `{ keyId? | identityId? | actor? }`. */
  readonly listAuditEvents: Bound<typeof listAuditEvents>;
  /** Forgets entries of the audit log: `{ before }` → `{ deleted }`. */
  readonly pruneAuditEvents: Bound<typeof pruneAuditEvents>;
  /** The workspace itself: `{ id, name?, enabled }`. */
  readonly getWorkspace: Bound<typeof getWorkspace>;
  /** Whether the workspace is switched on. */
  readonly isWorkspaceEnabled: Bound<typeof isWorkspaceEnabled>;
  /** Switches the workspace on or off. */
  readonly setWorkspaceEnabled: Bound<typeof setWorkspaceEnabled>;
}

/** Binds every operation to its workspace and to what all of them work with. */
export function bindOperations(context: OperationContext): Operations {
  return {
    createApi: (input) => createApi(context, input),
    getApi: (input) => getApi(context, input),
    listApis: (input) => listApis(context, input),
    updateApi: (input) => updateApi(context, input),
    deleteApi: (input) => deleteApi(context, input),
    createKey: (input) => createKey(context, input),
    createKeys: (input) => createKeys(context, input),
    verifyKey: ((input, scope) => verifyKey(context, input, scope)) as VerifyOrDryRun,
    whoami: (input) => whoami(context, input),
    getKey: (input) => getKey(context, input),
    listKeys: (input) => listKeys(context, input),
    updateKey: (input) => updateKey(context, input),
    updateRemaining: (input) => updateRemaining(context, input),
    rotateKey: (input, scope) => rotateKey(context, input, scope),
    addRoles: (input) => addRoles(context, input),
    setRoles: (input) => setRoles(context, input),
    removeRoles: (input) => removeRoles(context, input),
    addPermissions: (input) => addPermissions(context, input),
    setPermissions: (input) => setPermissions(context, input),
    removePermissions: (input) => removePermissions(context, input),
    deleteKey: (input) => deleteKey(context, input),
    deleteKeys: (input) => deleteKeys(context, input),
    reencryptKeys: (input) => reencryptKeys(context, input),
    createIdentity: (input) => createIdentity(context, input),
    getIdentity: (input) => getIdentity(context, input),
    listIdentities: (input) => listIdentities(context, input),
    updateIdentity: (input) => updateIdentity(context, input),
    deleteIdentity: (input) => deleteIdentity(context, input),
    limit: (input) => limit(context, input),
    resetLimit: (input) => resetLimit(context, input),
    createPermission: (input) => createPermission(context, input),
    getPermission: (input) => getPermission(context, input),
    listPermissions: () => listPermissions(context),
    deletePermission: (input) => deletePermission(context, input),
    createRole: (input) => createRole(context, input),
    getRole: (input) => getRole(context, input),
    listRoles: () => listRoles(context),
    setRolePermissions: (input) => setRolePermissions(context, input),
    deleteRole: (input) => deleteRole(context, input),
    createRootKey: (input) => createRootKey(context, input),
    listRootKeys: (input) => listRootKeys(context, input),
    revokeRootKey: (input) => revokeRootKey(context, input),
    authenticateRootKey: (token) => authenticateRootKey(context, token),
    createWorkspace: (input) => createWorkspace(context, input),
    getVerifications: (input) => getVerifications(context, input),
    pruneVerifications: (input) => pruneVerifications(context, input),
    listAuditEvents: (input) => listAuditEvents(context, input),
    pruneAuditEvents: (input) => pruneAuditEvents(context, input),
    getWorkspace: () => getWorkspace(context),
    isWorkspaceEnabled: () => isWorkspaceEnabled(context),
    setWorkspaceEnabled: (enabled) => setWorkspaceEnabled(context, enabled),
  };
}
