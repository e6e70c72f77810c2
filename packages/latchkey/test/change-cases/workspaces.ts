import type { ChangeCase } from "./fixture.js";

/** Changes of root keys and workspaces. */
export const WORKSPACE_CASES: readonly ChangeCase[] = [
  {
    title: "createRootKey",
    operation: "createRootKey",
    run: async (latchkey) => {
      await latchkey.createRootKey({ permissions: ["api.*.create_key"], name: "issuer" });
      return [
        {
          type: "root_key.created",
          fields: {
            name: [undefined, "issuer"],
            permissions: [undefined, ["api.*.create_key"]],
          },
        },
      ];
    },
  },
  {
    title: "updateRootKey",
    operation: "updateRootKey",
    run: async (latchkey, { rootKeyId }) => {
      await latchkey.updateRootKey({ rootKeyId, name: "readers", permissions: ["api.*.read_api"] });
      return [
        {
          type: "root_key.updated",
          fields: { name: [undefined, "readers"], permissions: [["*"], ["api.*.read_api"]] },
        },
      ];
    },
  },
  {
    title: "rotateRootKey",
    operation: "rotateRootKey",
    run: async (latchkey, { rootKeyId }) => {
      const { rootKeyId: rotatedTo } = await latchkey.rotateRootKey({ rootKeyId });
      return [
        {
          type: "root_key.rotated",
          fields: { rotatedTo: [undefined, rotatedTo], expires: [undefined, latchkey.now()] },
        },
        { type: "root_key.created", fields: { permissions: [undefined, ["*"]] } },
      ];
    },
  },
  {
    title: "revokeRootKey",
    operation: "revokeRootKey",
    run: async (latchkey, { rootKeyId }) => {
      await latchkey.revokeRootKey({ rootKeyId });
      return [{ type: "root_key.revoked", fields: {} }];
    },
  },
  {
    title: "createWorkspace",
    operation: "createWorkspace",
    isElsewhere: true,
    run: async (latchkey) => {
      await latchkey.createWorkspace({ name: "north sea" });
      return [
        {
          type: "workspace.created",
          fields: { name: [undefined, "north sea"], enabled: [undefined, true] },
        },
      ];
    },
  },
  {
    title: "updateWorkspace",
    operation: "updateWorkspace",
    run: async (latchkey) => {
      await latchkey.updateWorkspace({ name: "north sea" });
      return [{ type: "workspace.updated", fields: { name: [undefined, "north sea"] } }];
    },
  },
  {
    title: "updateWorkspace of another one",
    operation: "updateWorkspace",
    isElsewhere: true,
    run: async (latchkey) => {
      await latchkey.updateWorkspace({ workspaceId: "ws_tides", name: "north sea" });
      return [{ type: "workspace.updated", fields: { name: [undefined, "north sea"] } }];
    },
  },
  {
    title: "setWorkspaceEnabled, off and on again",
    operation: "setWorkspaceEnabled",
    run: async (latchkey) => {
      await latchkey.setWorkspaceEnabled(false);
      await latchkey.setWorkspaceEnabled(true);
      return [
        { type: "workspace.disabled", fields: {} },
        { type: "workspace.enabled", fields: {} },
      ];
    },
  },
];
