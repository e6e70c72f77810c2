import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLatchkey, type Latchkey } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { runCli } from "../testing/run-cli.js";
import { runCommand } from "../testing/run-command.js";
import { tempFolder } from "../testing/temp-folder.js";
import { workspace } from "./workspace.js";

describe("latchkey workspace", () => {
  test("disable and enable say what they did, and are seen by whoever has the store open", async () => {
    const store = `sqlite:${join(tempFolder(), "keys.db")}`;
    const latchkey = createLatchkey({ store: openStore(store) }).workspace("ws_tides");
    const { apiId } = await latchkey.createApi({ name: "tide-tables" });
    const { key } = await latchkey.createKey({ apiId, externalId: "harbour-office" });
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

  describe("on a store of several workspaces", () => {
    async function storeOf(id: string, fill: (latchkey: Latchkey) => Promise<unknown>) {
      const store = `sqlite:${join(tempFolder(), "keys.db")}`;
      const latchkey = createLatchkey({ store: openStore(store) }).workspace(id);
      await fill(latchkey);
      await latchkey.close();
      return ["--store", store];
    }

    test.each(["disable", "enable"])(
      "%s of one that shows no use is done, and tells",
      async (act) => {
        const store = await storeOf("ws_tides", (tides) =>
          tides.createApi({ name: "tide-tables" }),
        );
        const { exitCode, stdout, stderr } = await runCli(["workspace", act, "ws_tydes", ...store]);
        expect(stdout).toBe(`workspace ws_tydes is ${act}d\n`);
        expect(stderr).toBe(
          "latchkey: ws_tydes has no identities and was never switched before: check the id\n",
        );
        expect(exitCode).toBe(0);
      },
    );

    test("one with an identity is known", async () => {
      const store = await storeOf("ws_tides", (tides) =>
        tides.createIdentity({ externalId: "harbour-office" }),
      );
      expect(await runCommand(workspace, ["disable", "ws_tides", ...store])).toHaveLength(1);
    });

    test("one that was changed or switched before is known", async () => {
      const store = await storeOf("ws_tides", async (tides) =>
        tides.deleteApi(await tides.createApi({ name: "tide-tables" })),
      );
      expect(await runCommand(workspace, ["disable", "ws_tides", ...store])).toHaveLength(1);
      await runCommand(workspace, ["disable", "ws_winds", ...store]);
      expect(await runCommand(workspace, ["enable", "ws_winds", ...store])).toHaveLength(1);
    });
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
