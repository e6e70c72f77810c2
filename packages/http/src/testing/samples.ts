import type { Fixture } from "./fixture.js";

/** One way to call an operation, and the permissions that it requires. */
export interface Sample {
  readonly title: string;
  readonly name: string;
  readonly input: (fixture: Fixture) => object;
  /** `<resource>.<action>` of each permission; narrower ones must name the fixture's API or identity. */
  readonly requiredPermissions: readonly string[];
  /** Only the form for all resources is enough. */
  readonly isForAllOnly?: true;
  /** The kind of record that the input names: an unknown id is a NOT_FOUND. */
  readonly names?: "api" | "key" | "identity" | "role" | "permission" | "reservation";
}

const A_DAY = { start: 0, end: 86_400_000 };

/** Every operation that requires a permission, in each of its forms. A test holds that none is missing. */
export const SAMPLES: readonly Sample[] = [
  sample("apis.createApi", () => ({ name: "payments" }), ["api.create_api"], "all"),
  sample("apis.ensureApi", () => ({ name: "payments" }), ["api.create_api", "api.read_api"], "all"),
  sample("apis.getApi", ({ apiId }) => ({ apiId }), ["api.read_api"], "api"),
  sample("apis.listApis", () => ({}), ["api.read_api"], "all"),
  sample(
    "apis.updateApi",
    ({ apiId }) => ({ apiId, name: "renamed", ipWhitelist: ["192.0.2.0/24"] }),
    ["api.update_api"],
    "api",
  ),
  sample("apis.listKeys", ({ apiId }) => ({ apiId }), ["api.read_key", "api.read_api"], "api"),
  sample(
    "apis.listKeys, decrypting",
    ({ apiId }) => ({ apiId, decrypt: true }),
    ["api.read_key", "api.read_api", "api.decrypt_key"],
    "api",
  ),
  sample("apis.deleteApi", ({ apiId }) => ({ apiId }), ["api.delete_api"], "api"),
  sample("apis.deleteKeys", ({ apiId }) => ({ apiId }), ["api.delete_key"], "api"),
  sample("keys.createKey", ({ apiId }) => ({ apiId }), ["api.create_key"], "api"),
  sample(
    "keys.createKey, recoverable",
    ({ apiId }) => ({ apiId, recoverable: true }),
    ["api.create_key", "api.encrypt_key"],
    "api",
  ),
  sample(
    "keys.createKey, creating",
    ({ apiId }) => ({ apiId, roles: ["new"], permissions: ["new"], create: true }),
    ["api.create_key", "rbac.create_role", "rbac.create_permission"],
    "api",
  ),
  sample(
    "keys.createKey, creating roles",
    ({ apiId }) => ({ apiId, roles: ["new"], create: true }),
    ["api.create_key", "rbac.create_role"],
    "api",
  ),
  sample(
    "keys.createKey, creating nothing",
    ({ apiId }) => ({ apiId, roles: [], create: true }),
    ["api.create_key"],
    "api",
  ),
  sample("keys.verifyKey", ({ key }) => ({ key }), ["api.verify_key"]),
  sample("keys.verifyKey, of an API", ({ key, apiId }) => ({ key, apiId }), ["api.verify_key"]),
  sample("keys.reserve", ({ key }) => ({ key }), ["api.reserve_key"]),
  sample("keys.reserve, of an API", ({ key, apiId }) => ({ key, apiId }), ["api.reserve_key"]),
  ...["settle", "release", "renew"].map((step) =>
    sample(
      `keys.${step}Reservation`,
      ({ reservationId }) => ({ reservationId }),
      ["api.settle_reservation"],
      "reservation",
    ),
  ),
  sample(
    "keys.listReservations, of a key",
    ({ keyId }) => ({ keyId }),
    ["api.read_reservation"],
    "key",
  ),
  sample(
    "keys.listReservations, of an identity",
    ({ identityId }) => ({ identityId }),
    ["identity.read_reservation"],
    "identity",
  ),
  sample("keys.explainKey", ({ keyId }) => ({ keyId }), ["api.read_key"], "key"),
  sample("keys.getKey", ({ keyId }) => ({ keyId }), ["api.read_key"], "key"),
  sample(
    "keys.getKey, decrypting",
    ({ keyId }) => ({ keyId, decrypt: true }),
    ["api.read_key", "api.decrypt_key"],
    "key",
  ),
  sample("keys.whoami", ({ key }) => ({ key }), ["api.read_key"], "key"),
  sample("keys.updateKey", ({ keyId }) => ({ keyId, name: "n" }), ["api.update_key"], "key"),
  sample(
    "keys.updateKey, its roles",
    ({ keyId }) => ({ keyId, roles: ["reader"] }),
    ["api.update_key", "rbac.add_role_to_key", "rbac.remove_role_from_key"],
    "key",
  ),
  sample(
    "keys.updateKey, creating roles",
    ({ keyId }) => ({ keyId, roles: [{ name: "new", create: true }] }),
    ["api.update_key", "rbac.add_role_to_key", "rbac.remove_role_from_key", "rbac.create_role"],
    "key",
  ),
  sample(
    "keys.updateKey, its permissions",
    ({ keyId }) => ({ keyId, permissions: [] }),
    ["api.update_key", "rbac.add_permission_to_key", "rbac.remove_permission_from_key"],
    "key",
  ),
  sample(
    "keys.updateKey, creating permissions",
    ({ keyId }) => ({ keyId, permissions: [{ name: "new", create: true }] }),
    [
      "api.update_key",
      "rbac.add_permission_to_key",
      "rbac.remove_permission_from_key",
      "rbac.create_permission",
    ],
    "key",
  ),
  sample(
    "keys.updateRemaining, of a key",
    ({ keyId }) => ({ keyId, op: "set", value: 5 }),
    ["api.update_key"],
    "key",
  ),
  sample(
    "keys.updateRemaining, of an identity",
    ({ identityId }) => ({ identityId, op: "set", value: 5 }),
    ["identity.update_identity"],
    "identity",
  ),
  sample(
    "keys.updateRemaining, of an external id",
    ({ externalId }) => ({ externalId, op: "set", value: 5 }),
    ["identity.update_identity"],
    "identity",
  ),
  sample("keys.deleteKey", ({ keyId }) => ({ keyId }), ["api.delete_key"], "key"),
  sample(
    "keys.rotateKey",
    ({ keyId }) => ({ keyId, graceMs: 1_000 }),
    // The key of the fixture is recoverable.
    ["api.create_key", "api.update_key", "api.encrypt_key"],
    "key",
  ),
  sample(
    "identities.createIdentity",
    () => ({ externalId: "new" }),
    ["identity.create_identity"],
    "all",
  ),
  sample(
    "identities.getIdentity",
    ({ identityId }) => ({ identityId }),
    ["identity.read_identity"],
    "identity",
  ),
  sample(
    "identities.getIdentity, by externalId",
    ({ externalId }) => ({ externalId }),
    ["identity.read_identity"],
    "identity",
  ),
  sample("identities.listIdentities", () => ({}), ["identity.read_identity"], "all"),
  sample(
    "identities.updateIdentity",
    ({ identityId }) => ({ identityId, meta: {} }),
    ["identity.update_identity"],
    "identity",
  ),
  sample(
    "identities.updateIdentity, by externalId",
    ({ externalId }) => ({ externalId, meta: {} }),
    ["identity.update_identity"],
    "identity",
  ),
  sample(
    "identities.deleteIdentity",
    ({ identityId }) => ({ identityId }),
    ["identity.delete_identity"],
    "identity",
  ),
  sample(
    "ratelimits.limit",
    ({ namespace }) => ({ namespace, identifier: "user_1", limit: 10, duration: 60_000 }),
    ["ratelimit.limit"],
  ),
  sample(
    "ratelimits.resetLimit, of a key",
    ({ keyId }) => ({ keyId, name: "default", duration: 60_000 }),
    ["api.update_key"],
    "key",
  ),
  sample(
    "ratelimits.resetLimit, of an identity",
    ({ identityId }) => ({ identityId, name: "requests" }),
    ["identity.update_identity"],
    "identity",
  ),
  sample(
    "ratelimits.resetLimit, of a namespace",
    ({ namespace }) => ({ namespace, identifier: "user_1", duration: 60_000 }),
    ["ratelimit.limit"],
  ),
  sample(
    "migrations.createKeys",
    ({ apiId }) => [
      { apiId, plaintext: "sk_1" },
      { apiId, plaintext: "sk_2" },
    ],
    ["api.create_key"],
    "api",
  ),
  sample(
    "migrations.createKeys, recoverable",
    ({ apiId }) => [
      { apiId, plaintext: "sk_1" },
      { apiId, plaintext: "sk_2", recoverable: true },
    ],
    ["api.create_key", "api.encrypt_key"],
    "api",
  ),
  sample(
    "keys.addRoles",
    ({ keyId, roleId }) => ({ keyId, roles: [{ id: roleId }] }),
    ["rbac.add_role_to_key"],
    "key",
  ),
  sample(
    "keys.addRoles, creating",
    ({ keyId }) => ({ keyId, roles: [{ name: "new", create: true }] }),
    ["rbac.add_role_to_key", "rbac.create_role"],
    "key",
  ),
  sample(
    "keys.setRoles",
    ({ keyId, roleId }) => ({ keyId, roles: [{ id: roleId }] }),
    ["rbac.add_role_to_key", "rbac.remove_role_from_key"],
    "key",
  ),
  sample(
    "keys.setRoles, creating",
    ({ keyId }) => ({ keyId, roles: [{ name: "new", create: true }] }),
    ["rbac.add_role_to_key", "rbac.remove_role_from_key", "rbac.create_role"],
    "key",
  ),
  sample(
    "keys.removeRoles",
    ({ keyId, roleId }) => ({ keyId, roles: [{ id: roleId }] }),
    ["rbac.remove_role_from_key"],
    "key",
  ),
  sample("permissions.createRole", () => ({ name: "new" }), ["rbac.create_role"]),
  sample(
    "permissions.createRole, with permissions",
    ({ permission }) => ({ name: "new", permissions: [permission] }),
    ["rbac.create_role", "rbac.add_permission_to_role"],
  ),
  sample(
    "permissions.ensureRole",
    ({ permission }) => ({ name: "new", permissions: [permission] }),
    [
      "rbac.create_role",
      "rbac.read_role",
      "rbac.create_permission",
      "rbac.add_permission_to_role",
      "rbac.remove_permission_from_role",
    ],
  ),
  sample("permissions.getRole", ({ roleId }) => ({ roleId }), ["rbac.read_role"], "role"),
  sample("permissions.listRoles", () => ({}), ["rbac.read_role"]),
  sample("permissions.deleteRole", ({ roleId }) => ({ roleId }), ["rbac.delete_role"], "role"),
  sample(
    "keys.addPermissions",
    ({ keyId, permissionId }) => ({ keyId, permissions: [{ id: permissionId }] }),
    ["rbac.add_permission_to_key"],
    "key",
  ),
  sample(
    "keys.addPermissions, creating",
    ({ keyId }) => ({ keyId, permissions: [{ name: "new", create: true }] }),
    ["rbac.add_permission_to_key", "rbac.create_permission"],
    "key",
  ),
  sample(
    "keys.setPermissions",
    ({ keyId, permissionId }) => ({ keyId, permissions: [{ id: permissionId }] }),
    ["rbac.add_permission_to_key", "rbac.remove_permission_from_key"],
    "key",
  ),
  sample(
    "keys.setPermissions, creating",
    ({ keyId }) => ({ keyId, permissions: [{ name: "new", create: true }] }),
    ["rbac.add_permission_to_key", "rbac.remove_permission_from_key", "rbac.create_permission"],
    "key",
  ),
  sample(
    "keys.removePermissions",
    ({ keyId, permissionId }) => ({ keyId, permissions: [{ id: permissionId }] }),
    ["rbac.remove_permission_from_key"],
    "key",
  ),
  sample("permissions.createPermission", () => ({ name: "new" }), ["rbac.create_permission"]),
  sample("permissions.ensurePermissions", () => ["new"], [
    "rbac.create_permission",
    "rbac.read_permission",
  ]),
  sample(
    "permissions.getPermission",
    ({ permissionId }) => ({ permissionId }),
    ["rbac.read_permission"],
    "permission",
  ),
  sample("permissions.listPermissions", () => ({}), ["rbac.read_permission"]),
  sample(
    "permissions.deletePermission",
    ({ permissionId }) => ({ permissionId }),
    ["rbac.delete_permission"],
    "permission",
  ),
  sample(
    "permissions.setRolePermissions",
    ({ roleId }) => ({ roleId, permissions: [] }),
    ["rbac.add_permission_to_role", "rbac.remove_permission_from_role"],
    "role",
  ),
  sample(
    "keys.getVerifications, of a key",
    ({ keyId }) => ({ keyId, ...A_DAY }),
    ["api.read_key"],
    "key",
  ),
  sample(
    "keys.getVerifications, of an API",
    ({ apiId }) => ({ apiId, ...A_DAY }),
    ["api.read_api"],
    "api",
  ),
  sample(
    "keys.getVerifications, of an identity",
    ({ identityId }) => ({ identityId, ...A_DAY }),
    ["identity.read_identity"],
    "identity",
  ),
  sample(
    "keys.getVerifications, by externalId",
    ({ externalId }) => ({ externalId, ...A_DAY }),
    ["identity.read_identity"],
    "identity",
  ),
  sample("audit.listAuditEvents", () => ({}), ["audit.read_audit"]),
  sample("audit.pruneAuditEvents", () => ({ before: 0 }), ["audit.delete_audit"]),
];

function sample(
  title: string,
  input: Sample["input"],
  requiredPermissions: readonly string[],
  names?: Sample["names"] | "all",
): Sample {
  const [name = ""] = title.split(",");
  if (names === "all") return { title, name, input, requiredPermissions, isForAllOnly: true };
  return { title, name, input, requiredPermissions, ...(names !== undefined && { names }) };
}
