import { type Sample, sample } from "./sample.js";

const HASH = "0".repeat(64);
const LIMIT = { identifier: "user_1", limit: 10, duration: 60_000 };
const ALL = "all";

/** Every operation with an input and the permissions that it requires. */
export const V2_SAMPLES: readonly Sample[] = [
  sample("apis.createApi", () => ({ name: "payments" }), ["api.create_api"], ALL),
  sample("apis.getApi", ({ apiId }) => ({ apiId }), ["api.read_api"]),
  sample(
    "apis.listKeys",
    ({ apiId }) => ({ apiId, limit: 1, decrypt: true, revalidateKeysCache: true }),
    ["api.read_key", "api.read_api", "api.decrypt_key"],
  ),
  sample("apis.deleteApi", ({ apiId }) => ({ apiId }), ["api.delete_api"]),
  sample("keys.createKey", ({ apiId }) => ({ apiId, recoverable: true }), [
    "api.create_key",
    "api.encrypt_key",
  ]),
  sample("keys.verifyKey", ({ key }) => ({ key }), ["api.verify_key"]),
  sample("keys.reserve", ({ key }) => ({ key }), ["api.reserve_key"]),
  ...["settle", "release", "renew"].map((step) =>
    sample(`keys.${step}Reservation`, ({ reservationId }) => ({ reservationId }), [
      "api.settle_reservation",
    ]),
  ),
  sample("keys.listReservations", ({ keyId }) => ({ keyId }), ["api.read_reservation"]),
  sample("keys.getKey", ({ keyId }) => ({ keyId, decrypt: true }), [
    "api.read_key",
    "api.decrypt_key",
  ]),
  sample("keys.whoami", ({ key }) => ({ key }), ["api.read_key"]),
  sample("keys.updateKey", ({ keyId }) => ({ keyId, credits: null }), ["api.update_key"]),
  sample(
    "keys.updateKey, its permissions",
    ({ keyId, permission }) => ({ keyId, permissions: [permission] }),
    ["api.update_key", "rbac.add_permission_to_key", "rbac.remove_permission_from_key"],
  ),
  sample("keys.updateCredits", ({ keyId }) => ({ keyId, operation: "set", value: null }), [
    "api.update_key",
  ]),
  sample("keys.deleteKey", ({ keyId }) => ({ keyId, permanent: true }), ["api.delete_key"]),
  sample("keys.rerollKey", ({ keyId }) => ({ keyId, expiration: 0 }), [
    "api.create_key",
    "api.update_key",
    "api.encrypt_key",
  ]),
  sample(
    "keys.addPermissions",
    ({ keyId, permission }) => ({ keyId, permissions: [permission] }),
    ["rbac.add_permission_to_key"],
    ALL,
  ),
  sample(
    "keys.setPermissions",
    ({ keyId, permission }) => ({ keyId, permissions: [permission] }),
    ["rbac.add_permission_to_key", "rbac.remove_permission_from_key"],
    ALL,
  ),
  sample(
    "keys.removePermissions",
    ({ keyId, permission }) => ({ keyId, permissions: [permission] }),
    ["rbac.remove_permission_from_key"],
    ALL,
  ),
  sample("keys.addRoles", ({ keyId }) => ({ keyId, roles: [] }), ["rbac.add_role_to_key"], ALL),
  sample(
    "keys.setRoles",
    ({ keyId }) => ({ keyId, roles: [] }),
    ["rbac.add_role_to_key", "rbac.remove_role_from_key"],
    ALL,
  ),
  sample(
    "keys.removeRoles",
    ({ keyId }) => ({ keyId, roles: [] }),
    ["rbac.remove_role_from_key"],
    ALL,
  ),
  sample("keys.migrateKeys", ({ apiId }) => ({ migrationId: "m", apiId, keys: [{ hash: HASH }] }), [
    "api.create_key",
  ]),
  sample(
    "identities.createIdentity",
    () => ({ externalId: "user_2" }),
    ["identity.create_identity"],
    ALL,
  ),
  sample("identities.getIdentity", ({ externalId }) => ({ identity: externalId }), [
    "identity.read_identity",
  ]),
  sample("identities.listIdentities", () => ({ limit: 1 }), ["identity.read_identity"], ALL),
  sample(
    "identities.updateIdentity",
    ({ identityId }) => ({ identity: identityId, meta: { plan: "pro" } }),
    ["identity.update_identity"],
  ),
  sample("identities.deleteIdentity", ({ externalId }) => ({ identity: externalId }), [
    "identity.delete_identity",
  ]),
  sample(
    "permissions.createPermission",
    () => ({ name: "Write", slug: "docs.write" }),
    ["rbac.create_permission"],
    ALL,
  ),
  sample(
    "permissions.getPermission",
    ({ permission }) => ({ permission }),
    ["rbac.read_permission"],
    ALL,
  ),
  sample("permissions.listPermissions", () => ({ search: "d" }), ["rbac.read_permission"], ALL),
  sample(
    "permissions.deletePermission",
    ({ permissionId }) => ({ permission: permissionId }),
    ["rbac.delete_permission"],
    ALL,
  ),
  sample("permissions.createRole", () => ({ name: "editor" }), ["rbac.create_role"], ALL),
  sample("permissions.getRole", ({ roleId }) => ({ role: roleId }), ["rbac.read_role"], ALL),
  sample("permissions.listRoles", () => ({}), ["rbac.read_role"], ALL),
  sample("permissions.deleteRole", ({ roleId }) => ({ role: roleId }), ["rbac.delete_role"], ALL),
  sample(
    "permissions.setRolePermissions",
    ({ roleId, permission }) => ({ roleId, permissions: [permission] }),
    ["rbac.add_permission_to_role", "rbac.remove_permission_from_role"],
    ALL,
  ),
  sample("ratelimit.limit", ({ namespace }) => ({ namespace, ...LIMIT }), ["ratelimit.limit"]),
  sample("ratelimit.multiLimit", ({ namespace }) => [{ namespace, ...LIMIT }], ["ratelimit.limit"]),
];
