import type { ChangeCase } from "./fixture.js";

/** Changes of roles and permissions. */
export const ROLE_CASES: readonly ChangeCase[] = [
  {
    title: "createPermission",
    operation: "createPermission",
    run: async (latchkey) => {
      await latchkey.createPermission({ name: "buoys.move" });
      return [{ type: "permission.created", fields: { name: [undefined, "buoys.move"] } }];
    },
  },
  {
    title: "ensurePermissions",
    operation: "ensurePermissions",
    run: async (latchkey) => {
      await latchkey.ensurePermissions(["gates.open", "buoys.move"]);
      return [{ type: "permission.created", fields: { name: [undefined, "buoys.move"] } }];
    },
  },
  {
    title: "deletePermission",
    operation: "deletePermission",
    run: async (latchkey, { otherPermissionId }) => {
      await latchkey.deletePermission({ permissionId: otherPermissionId });
      return [
        {
          type: "permission.deleted",
          fields: {
            name: ["gates.open", undefined],
            description: ["to open gates", undefined],
          },
        },
      ];
    },
  },
  {
    title: "createRole",
    operation: "createRole",
    run: async (latchkey) => {
      await latchkey.createRole({ name: "warden", permissions: ["gates.open"] });
      return [
        {
          type: "role.created",
          fields: { name: [undefined, "warden"], permissions: [undefined, ["gates.open"]] },
        },
      ];
    },
  },
  {
    title: "ensureRole",
    operation: "ensureRole",
    run: async (latchkey) => {
      await latchkey.ensureRole({ name: "warden", permissions: ["gates.open"] });
      return [
        {
          type: "role.created",
          fields: { name: [undefined, "warden"], permissions: [undefined, ["gates.open"]] },
        },
      ];
    },
  },
  {
    title: "ensureRole, of one that exists, with a permission that does not",
    operation: "ensureRole",
    run: async (latchkey) => {
      await latchkey.ensureRole({ name: "pilot", permissions: ["buoys.move"] });
      return [
        { type: "permission.created", fields: { name: [undefined, "buoys.move"] } },
        { type: "role.updated", fields: { permissions: [["tides.read"], ["buoys.move"]] } },
      ];
    },
  },
  {
    title: "setRolePermissions",
    operation: "setRolePermissions",
    run: async (latchkey, { roleId }) => {
      await latchkey.setRolePermissions({ roleId, permissions: ["gates.open"] });
      return [{ type: "role.updated", fields: { permissions: [["tides.read"], ["gates.open"]] } }];
    },
  },
  {
    title: "deleteRole",
    operation: "deleteRole",
    run: async (latchkey, { roleId }) => {
      await latchkey.deleteRole({ roleId });
      return [
        {
          type: "role.deleted",
          fields: { name: ["pilot", undefined], permissions: [["tides.read"], undefined] },
        },
      ];
    },
  },
];
