import type { ChangeCase } from "./fixture.js";

/** Changes of the roles and permissions of a key. */
export const KEY_GRANT_CASES: readonly ChangeCase[] = [
  ...(["addRoles", "setRoles"] as const).map(
    (operation): ChangeCase => ({
      title: operation,
      operation,
      run: async (latchkey, { keyId, identityId }) => {
        const roles = [{ name: "pilot" }, { name: "warden", create: true }];
        await latchkey[operation]({ keyId, roles });
        return [
          { type: "role.created", fields: { name: [undefined, "warden"] } },
          {
            type: "key.updated",
            keyId,
            identityId,
            fields: { roles: [["pilot"], ["pilot", "warden"]] },
          },
        ];
      },
    }),
  ),
  {
    title: "removeRoles",
    operation: "removeRoles",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.removeRoles({ keyId, roles: ["pilot"] });
      return [
        { type: "key.updated", keyId, identityId, fields: { roles: [["pilot"], undefined] } },
      ];
    },
  },
  ...(["addPermissions", "setPermissions"] as const).map(
    (operation): ChangeCase => ({
      title: operation,
      operation,
      run: async (latchkey, { keyId, identityId }) => {
        await latchkey[operation]({ keyId, permissions: ["gates.open"] });
        return [
          {
            type: "key.updated",
            keyId,
            identityId,
            fields: { permissions: [undefined, ["gates.open"]] },
          },
        ];
      },
    }),
  ),
  {
    title: "removePermissions",
    operation: "removePermissions",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.addPermissions({ keyId, permissions: ["gates.open"] });
      await latchkey.removePermissions({ keyId, permissions: ["gates.open"] });
      const about = { type: "key.updated", keyId, identityId };
      return [
        { ...about, fields: { permissions: [undefined, ["gates.open"]] } },
        { ...about, fields: { permissions: [["gates.open"], undefined] } },
      ];
    },
  },
];
