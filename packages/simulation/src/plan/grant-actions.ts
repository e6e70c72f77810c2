import { inWorkspace, nothing, onKey } from "./action.js";

/** Actions that change which permissions a key holds: its own, those of its role, the ceiling of its API, and the permissions themselves. */
export const GRANT_ACTIONS = {
  grantWrite: onKey(
    4,
    (random) => ({ isGranted: random.chance(50) }),
    (latchkey, { keyId }, { isGranted }) =>
      latchkey.setPermissions({ keyId, permissions: isGranted ? ["write"] : [] }),
  ),
  setRole: onKey(
    3,
    (random) => ({ isGranted: random.chance(50) }),
    (latchkey, { keyId }, { isGranted }) =>
      latchkey.setRoles({ keyId, roles: isGranted ? ["reader"] : [] }),
  ),
  addWrite: onKey(
    2,
    (random) => ({ isGranted: random.chance(50) }),
    (latchkey, { keyId }, { isGranted }) =>
      isGranted
        ? latchkey.addPermissions({ keyId, permissions: ["write"] })
        : latchkey.removePermissions({ keyId, permissions: ["write"] }),
  ),
  addRole: onKey(
    2,
    (random) => ({ isGranted: random.chance(50) }),
    (latchkey, { keyId }, { isGranted }) =>
      isGranted
        ? latchkey.addRoles({ keyId, roles: ["reader"] })
        : latchkey.removeRoles({ keyId, roles: ["reader"] }),
  ),
  ensureRole: inWorkspace(
    3,
    (random) => ({ names: random.pick([[], ["read"], ["docs.*"], ["docs.*", "write"]]) }),
    (latchkey, _, { names }) => latchkey.ensureRole({ name: "reader", permissions: names }),
  ),
  roleGrants: inWorkspace(
    7,
    (random) => ({ names: random.pick([[], [], ["read"], ["docs.*"], ["docs.*", "write"]]) }),
    (latchkey, { roleId }, { names }) =>
      latchkey.setRolePermissions({ roleId, permissions: names }),
  ),
  deleteRole: inWorkspace(1, nothing, (latchkey, { roleId }) => latchkey.deleteRole({ roleId })),
  ceiling: inWorkspace(
    4,
    (random) => ({ names: random.pick([null, null, ["read"], ["docs.*"], ["read", "write"]]) }),
    (latchkey, { apiId }, { names }) =>
      latchkey.updateApi({ apiId, ceilings: names === null ? null : { permissions: names } }),
  ),
  // Another permission of the same name may be created afterwards. It must not give back what the deleted one granted.
  deletePermission: inWorkspace(
    3,
    (random) => ({ name: random.pick(["read", "write", "docs.*"]) }),
    async (latchkey, _, { name }) => {
      const found = (await latchkey.listPermissions()).find((one) => one.name === name);
      return found === undefined
        ? "there is none"
        : latchkey.deletePermission({ permissionId: found.id });
    },
  ),
  createPermission: inWorkspace(
    3,
    (random) => ({ name: random.pick(["read", "write", "docs.*"]) }),
    (latchkey, _, { name }) => latchkey.createPermission({ name }),
  ),
  ensurePermission: inWorkspace(
    2,
    (random) => ({ name: random.pick(["read", "write", "docs.*"]) }),
    (latchkey, _, { name }) => latchkey.ensurePermissions([name]),
  ),
} as const;
