import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLatchkey, type Latchkey } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { UsageError } from "../command-line/failures.js";
import { openStore } from "../open-store.js";
import { runCommand } from "../testing/run-command.js";
import { tempFolder } from "../testing/temp-folder.js";

const COMMANDS =
  "workspace must be followed by one of: create, list, get, update, disable, enable, delete";

describe("latchkey workspace", () => {
  test("update and delete confirm what they did, and delete leaves nothing", async () => {
    const store = `sqlite:${join(tempFolder(), "keys.db")}`;
    const latchkey = createLatchkey({ store: openStore(store) });
    const { workspaceId: id } = await latchkey.createWorkspace();
    await latchkey.workspace(id).createApi({ name: "tide-tables" });
    await latchkey.close();
    const run = (...args: string[]) => runCommand(["workspace", ...args, "--store", store]);
    expect(await run("update", id, "--name", "tides")).toEqual([`workspace ${id} is updated`]);
    expect(await run("list")).toEqual([`${id}\ttides\ttrue`]);
    expect(await run("update", id, "--clear", "name")).toEqual([`workspace ${id} is updated`]);
    expect(await run("delete", id, "--confirm", id)).toEqual([`workspace ${id} is deleted`]);
    expect(await run("list")).toEqual([]);
  });

  test("disable and enable confirm what they did, and take effect in every process that has the store open", async () => {
    const store = `sqlite:${join(tempFolder(), "keys.db")}`;
    const latchkey = createLatchkey({ store: openStore(store) }).workspace("ws_tides");
    const { apiId } = await latchkey.createApi({ name: "tide-tables" });
    const { key } = await latchkey.createKey({ apiId, externalId: "harbour-office" });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });

    expect(await runCommand(["workspace", "disable", "ws_tides", "--store", store])).toEqual([
      "workspace ws_tides is disabled",
    ]);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "FORBIDDEN" });

    expect(await runCommand(["workspace", "enable", "ws_tides", "--store", store])).toEqual([
      "workspace ws_tides is enabled",
    ]);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    await latchkey.close();
  });

  test("disable is in the audit log, with the command line as the actor", async () => {
    const store = `sqlite:${join(tempFolder(), "keys.db")}`;
    const latchkey = createLatchkey({ store: openStore(store) }).workspace("ws_tides");
    await latchkey.createApi({ name: "tide-tables" });
    await runCommand(["workspace", "disable", "ws_tides", "--store", store]);
    expect((await latchkey.listAuditEvents({ actor: "cli" })).events).toMatchObject([
      { type: "workspace.disabled", resourceId: "ws_tides" },
    ]);
    await latchkey.close();
  });

  test("list prints every workspace of the store, and whether it is enabled", async () => {
    const store = `sqlite:${join(tempFolder(), "keys.db")}`;
    const latchkey = createLatchkey({ store: openStore(store) });
    await latchkey.createApi({ name: "tide-tables" });
    await latchkey.createRootKey({ permissions: ["*"] });
    const { workspaceId } = await latchkey.createWorkspace({ name: "harbours" });
    await latchkey.workspace("ws_tides").setWorkspaceEnabled(false);
    await latchkey.close();
    const lines = await runCommand(["workspace", "list", "--store", store]);
    expect(lines).toEqual(
      [`${workspaceId}\tharbours\ttrue`, "ws_default\t\ttrue", "ws_tides\t\tfalse"].sort(),
    );
  });

  describe("on a store of several workspaces", () => {
    async function storeOf(id: string, fill: (latchkey: Latchkey) => Promise<unknown>) {
      const store = `sqlite:${join(tempFolder(), "keys.db")}`;
      const latchkey = createLatchkey({ store: openStore(store) }).workspace(id);
      await fill(latchkey);
      await latchkey.close();
      return ["--store", store];
    }

    test.each<[string, (tides: Latchkey) => Promise<unknown>]>([
      ["an identity", (tides) => tides.createIdentity({ externalId: "harbour-office" })],
      ["an API", (tides) => tides.createApi({ name: "tide-tables" })],
      ["a root key", (tides) => tides.createRootKey({ permissions: ["*"] })],
    ])("one with %s is known", async (_, fill) => {
      const store = await storeOf("ws_tides", fill);
      expect(await runCommand(["workspace", "disable", "ws_tides", ...store])).toHaveLength(1);
    });

    test("one that was changed or switched before is known", async () => {
      const store = await storeOf("ws_tides", async (tides) =>
        tides.deleteApi(await tides.createApi({ name: "tide-tables" })),
      );
      expect(await runCommand(["workspace", "disable", "ws_tides", ...store])).toHaveLength(1);
      await runCommand(["workspace", "disable", "ws_winds", ...store]);
      expect(await runCommand(["workspace", "enable", "ws_winds", ...store])).toHaveLength(1);
    });
  });

  test("create prints the id of a new workspace, which other commands then accept", async () => {
    const store = ["--store", `sqlite:${join(tempFolder(), "keys.db")}`];
    const [id = ""] = await runCommand(["workspace", "create", "--name", "Tide Office", ...store]);
    expect(id).toMatch(/^ws_[A-Za-z0-9]+$/);
    const [other] = await runCommand(["workspace", "create", "--name", "Tide Office", ...store]);
    expect(other).not.toBe(id);
    expect(await runCommand(["workspace", "disable", id, ...store])).toEqual([
      `workspace ${id} is disabled`,
    ]);
  });

  test("create takes a name of 1 to 256 characters, or none", async () => {
    const store = ["--store", `sqlite:${join(tempFolder(), "keys.db")}`];
    expect(await runCommand(["workspace", "create", ...store])).toHaveLength(1);
    for (const length of [1, 256])
      expect(
        await runCommand(["workspace", "create", "--name", "x".repeat(length), ...store]),
      ).toHaveLength(1);
    await expect(
      runCommand(["workspace", "create", "--name", "x".repeat(257), ...store]),
    ).rejects.toThrow(new UsageError("--name must be a string of 1 to 256 characters"));
  });

  test("a mistyped file is not created", async () => {
    const path = join(tempFolder(), "kyes.db");
    const args = ["disable", "ws_tides", "--store", `sqlite:${path}`];
    await expect(runCommand(["workspace", ...args])).rejects.toThrow(`there is no file ${path}`);
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    [[], COMMANDS],
    [["remove", "ws_tides"], COMMANDS],
    [["delete", "ws_tides"], "--confirm is required"],
    [["delete", "ws_tides", "--confirm", "ws_tide"], "--confirm must repeat the id"],
    [["update", "ws_tides"], "one of --name and --clear is required"],
    [["update", "ws_tides", "--clear", "id"], "--clear must be a list of name"],
    [["create", "ws_tides"], "too many arguments: expected options only"],
    [["create"], "--store is required"],
    [["create", "--store", "memory:"], "--store must outlive this program"],
    [["disable", "ws_tides", "--name", "n", "--store", "memory:"], "unknown option --name"],
    [["disable"], "<id> is required"],
    [["disable", "a b"], "<id> must be 1 to 64 characters of A-Z a-z 0-9 _ -"],
    [["disable", "a", "b"], "too many arguments: expected <id>"],
    [["disable", "ws_tides"], "--store is required"],
    [["disable", "ws_tides", "--store", "memory:"], "--store must be one that a server uses"],
  ])("%j is refused", async (args, message) => {
    await expect(runCommand(["workspace", ...args])).rejects.toThrow(message);
  });
});
