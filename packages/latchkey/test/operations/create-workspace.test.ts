import type { LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnMemory, rejectionOf } from "../test-context.js";

describeOnMemory("createWorkspace", (open) => {
  test("creates an enabled, empty workspace with its own id", async () => {
    const context = open();
    const { workspaceId } = await context.latchkey.createWorkspace({ name: "Tide Office" });
    const other = await context.latchkey.createWorkspace();
    expect(workspaceId).toMatch(/^ws_[A-Za-z0-9]+$/);
    expect(other.workspaceId).not.toBe(workspaceId);
    const made = context.latchkey.workspace(workspaceId);
    expect(await made.getWorkspace()).toEqual({
      id: workspaceId,
      name: "Tide Office",
      enabled: true,
    });
    expect(await context.latchkey.workspace("ws_unused").getWorkspace()).toEqual({
      id: "ws_unused",
      enabled: true,
    });
    expect(await made.isWorkspaceEnabled()).toBe(true);
    expect(await made.listApis()).toEqual({ apis: [], total: 0 });
    const { apiId } = await made.createApi({ name: "tide tables" });
    const { key } = await made.createKey({ apiId });
    expect(await made.verifyKey({ key })).toMatchObject({ valid: true });
    expect(await context.latchkey.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
  });

  test("disabling it affects no other workspace, and keeps its name", async () => {
    const context = open();
    const { workspaceId } = await context.latchkey.createWorkspace({ name: "Tide Office" });
    const made = context.latchkey.workspace(workspaceId);
    await made.setWorkspaceEnabled(false);
    expect(await context.latchkey.isWorkspaceEnabled()).toBe(true);
    expect(await made.getWorkspace()).toMatchObject({ name: "Tide Office", enabled: false });
    await made.setWorkspaceEnabled(true);
    expect(await made.isWorkspaceEnabled()).toBe(true);
  });

  test("accepts a name of 1 to 256 characters, or none", async () => {
    const { latchkey } = open();
    for (const input of [{}, { name: "x" }, { name: "x".repeat(256) }])
      expect(await latchkey.createWorkspace(input)).toHaveProperty("workspaceId");
    for (const name of ["", "x".repeat(257), null, 7])
      expect(await rejectionOf(latchkey.createWorkspace({ name: name as never }))).toMatchObject({
        code: "BAD_REQUEST",
        issues: [{ path: "name" }],
      });
  });

  test("is emitted, and is the first entry in the log of the new workspace", async () => {
    const events: LatchkeyEvent[] = [];
    const context = open({ onEvent: (event) => events.push(event) });
    const { workspaceId } = await context.latchkey.createWorkspace({ name: "Tide Office" });
    await context.latchkey.workspace(workspaceId).setWorkspaceEnabled(false);
    expect(events).toMatchObject([
      {
        type: "workspace.created",
        workspaceId,
        resourceId: workspaceId,
        changes: [
          { field: "name", after: "Tide Office" },
          { field: "enabled", after: true },
        ],
      },
      { type: "workspace.disabled", workspaceId, resourceId: workspaceId },
    ]);
    const { events: entries } = await context.latchkey.workspace(workspaceId).listAuditEvents();
    expect(entries.map(({ type }) => type)).toEqual(["workspace.disabled", "workspace.created"]);
    const own = await context.latchkey.listAuditEvents();
    expect(own.events).toEqual([]);
  });
});
