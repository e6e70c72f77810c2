import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { runCommand } from "../testing/run-command.js";
import { tempFolder } from "../testing/temp-folder.js";
import { workspace } from "./workspace.js";

describe("latchkey workspace", () => {
  test("disable and enable say what they did, and are seen by whoever has the store open", async () => {
    const store = `sqlite:${join(tempFolder(), "keys.db")}`;
    const latchkey = createLatchkey({ store: openStore(store) }).workspace("ws_tides");
    const { apiId } = await latchkey.createApi({ name: "tide-tables" });
    const { key } = await latchkey.createKey({ apiId });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });

    expect(await runCommand(workspace, ["disable", "ws_tides", "--store", store])).toEqual([
      "workspace ws_tides is disabled",
    ]);
    await expect(latchkey.verifyKey({ key })).rejects.toMatchObject({ code: "FORBIDDEN" });

    expect(await runCommand(workspace, ["enable", "ws_tides", "--store", store])).toEqual([
      "workspace ws_tides is enabled",
    ]);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    await latchkey.close();
  });

  test("a mistyped file is not made anew", async () => {
    const path = join(tempFolder(), "kyes.db");
    const args = ["disable", "ws_tides", "--store", `sqlite:${path}`];
    await expect(runCommand(workspace, args)).rejects.toThrow(`there is no file ${path}`);
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    [[], "the first argument must be disable or enable"],
    [["delete", "ws_tides"], "the first argument must be disable or enable"],
    [["disable"], "disable needs the id of a workspace"],
    [["disable", "a b"], "<id> must be 1 to 64 characters of A-Z a-z 0-9 _ -"],
    [["disable", "a", "b"], "too many arguments: expected disable|enable <id>"],
    [["disable", "ws_tides"], "--store is required"],
    [["disable", "ws_tides", "--store", "memory:"], "--store must be one that a server uses"],
  ])("%j is refused", async (args, message) => {
    await expect(runCommand(workspace, args)).rejects.toThrow(message);
  });
});
