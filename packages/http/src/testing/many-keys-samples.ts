import { type Sample, sample } from "./sample.js";

/** Operations on many keys at once, in each form of their input. */
export const MANY_KEYS_SAMPLES: readonly Sample[] = [
  ...(["delete", "disable", "enable"] as const).flatMap((verb) => {
    const name = `apis.${verb}Keys`;
    const required = [verb === "delete" ? "api.delete_key" : "api.update_key"];
    return [
      sample(name, ({ apiId }) => ({ apiId }), required, "api"),
      sample(
        `${name}, of an owner in an API`,
        ({ apiId, externalId }) => ({ apiId, externalId }),
        required,
        "api",
      ),
      sample(`${name}, of an owner`, ({ externalId }) => ({ externalId }), required, "all"),
      sample(`${name}, of an identity`, ({ identityId }) => ({ identityId }), required, "all"),
      sample(`${name}, by id`, ({ keyId }) => ({ keyIds: [keyId] }), required),
    ];
  }),
  sample(
    "keys.updateKeys",
    ({ keyId }) => ({ keyIds: [keyId], name: "n" }),
    ["api.update_key"],
    "key",
  ),
  sample(
    "keys.updateKeys, creating roles",
    ({ keyId }) => ({ keyIds: [keyId], roles: [{ name: "new", create: true }] }),
    ["api.update_key", "rbac.add_role_to_key", "rbac.remove_role_from_key", "rbac.create_role"],
    "key",
  ),
  ...(["disable", "delete"] as const).map((keys) =>
    sample(
      `identities.deleteIdentity, with keys: ${keys}`,
      ({ identityId }) => ({ identityId, keys }),
      ["identity.delete_identity", keys === "delete" ? "api.delete_key" : "api.update_key"],
      "all",
    ),
  ),
];
