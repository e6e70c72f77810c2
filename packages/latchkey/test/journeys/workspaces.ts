import { expect } from "vitest";
import { expectRefused } from "../test-context.js";
import type { Journey } from "./journey.js";

/** createWorkspace, getWorkspace, setWorkspaceEnabled, isWorkspaceEnabled, listWorkspaces, updateWorkspace, deleteWorkspace. */
export const WORKSPACES: Journey = {
  resource: "workspaces",
  title:
    "are made empty, see nothing of one another, and are switched off for every process at once",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const { workspaceId } = await latchkey.createWorkspace({ name: "Tide Office" });
    await expectRefused("BAD_REQUEST", [latchkey.createWorkspace({ name: "" })]);
    const made = latchkey.workspace(workspaceId);
    const seen = other.workspace(workspaceId);
    expect(await seen.getWorkspace()).toEqual({
      id: workspaceId,
      name: "Tide Office",
      enabled: true,
    });
    const { apiId } = await made.createApi({ name: "tide tables" });
    const { key } = await made.createKey({ apiId });
    const { key: rootKey } = await made.createRootKey({ permissions: ["*"] });
    expect(await seen.verifyKey({ key })).toMatchObject({ valid: true });
    expect(await other.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
    expect(await other.listApis()).toEqual({ apis: [], total: 0 });

    await made.setWorkspaceEnabled(false);
    expect(await seen.isWorkspaceEnabled()).toBe(false);
    expect(await other.isWorkspaceEnabled()).toBe(true);
    expect(await seen.verifyKey({ key })).toMatchObject({ valid: false, code: "FORBIDDEN" });
    expect(await other.authenticateRootKey(rootKey)).toEqual({ kind: "workspace-disabled" });
    await seen.setWorkspaceEnabled(true);
    expect(await made.verifyKey({ key })).toMatchObject({ valid: true });
    expect(await made.getWorkspace()).toMatchObject({ name: "Tide Office", enabled: true });
    await expectRefused("BAD_REQUEST", [made.setWorkspaceEnabled("no" as never)]);

    await other.updateWorkspace({ workspaceId, name: "Harbour Office" });
    const { workspaces } = await latchkey.listWorkspaces();
    expect(workspaces).toContainEqual({ id: workspaceId, name: "Harbour Office", enabled: true });
    await expectRefused("BAD_REQUEST", [
      latchkey.deleteWorkspace({ workspaceId, confirm: "ws_another" }),
      latchkey.updateWorkspace({ workspaceId: "no workspace" }),
      latchkey.listWorkspaces({ cursor: "x" }),
    ]);
    expect(await latchkey.deleteWorkspace({ workspaceId, confirm: workspaceId })).toEqual({});
    expect(await seen.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
    expect(await other.authenticateRootKey(rootKey)).toEqual({ kind: "refused" });
  },
};
