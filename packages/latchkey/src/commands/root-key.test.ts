import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { UsageError } from "../command-line.js";
import { keyRingsFromEnv } from "../key-rings-from-env.js";
import { openStore } from "../open-store.js";
import { runCli } from "../testing/run-cli.js";
import { runCommand } from "../testing/run-command.js";
import { tempFolder } from "../testing/temp-folder.js";
import { rootKey } from "./root-key.js";

const newStore = () => `sqlite:${join(tempFolder(), "keys.db")}`;

async function whomItSpeaksFor(store: string, key: string, env: Record<string, string> = {}) {
  const latchkey = createLatchkey({ store: openStore(store), ...keyRingsFromEnv(env) });
  const outcome = await latchkey.authenticateRootKey(key);
  await latchkey.close();
  return outcome;
}

describe("latchkey root-key", () => {
  test("prints the root key and nothing else", async () => {
    const store = newStore();
    const args = ["root-key", "--store", store, "--permissions", "api.*.read_api,api.*.read_key"];
    const { exitCode, stdout, stderr } = await runCli([...args, "--workspace", "ws_tides"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^lk_root_[1-9A-HJ-NP-Za-km-z]+\n$/);
    expect(exitCode).toBe(0);
    expect(await whomItSpeaksFor(store, stdout.trim())).toMatchObject({
      kind: "authenticated",
      workspaceId: "ws_tides",
      permissions: ["api.*.read_api", "api.*.read_key"],
    });
  });

  test("without --workspace the key is of the default workspace", async () => {
    const store = newStore();
    const [key = ""] = await runCommand(rootKey, ["--store", store, "--permissions", "*"]);
    expect(await whomItSpeaksFor(store, key)).toMatchObject({ workspaceId: "ws_default" });
  });

  test("the store may come from LATCHKEY_STORE", async () => {
    const store = newStore();
    const [key = ""] = await runCommand(rootKey, ["--permissions", "*"], { LATCHKEY_STORE: store });
    expect(await whomItSpeaksFor(store, key)).toMatchObject({ kind: "authenticated" });
  });

  test("the pepper of the environment goes into the hash", async () => {
    const store = newStore();
    const env = { LATCHKEY_PEPPER: randomBytes(32).toString("base64") };
    const [key = ""] = await runCommand(rootKey, ["--store", store, "--permissions", "*"], env);
    expect(await whomItSpeaksFor(store, key, env)).toMatchObject({ kind: "authenticated" });
    expect(await whomItSpeaksFor(store, key)).toEqual({ kind: "refused" });
  });

  test.each(["9999-12-31", "9999-12-31T23:59Z", "9999-12-31T23:59:59.999+02:00"])(
    "--expires takes %s",
    async (expires) => {
      const args = ["--store", newStore(), "--permissions", "*", "--expires", expires];
      expect(await runCommand(rootKey, args)).toHaveLength(1);
    },
  );

  const isoDate = "--expires must be an ISO date, such as 2031-05-17 or 2031-05-17T09:30:00Z";
  test.each([
    ["2001-01-01", "--expires must be later than now"],
    ["9999-02-30", isoDate],
    ["9999-02-30T10:00:00Z", isoDate],
    ["9999-13-01", isoDate],
    ["9999-12-31T25:00:00Z", isoDate],
    ["9999-12-31T10:00:00", isoDate],
    ["31.12.9999", isoDate],
    ["4102444800000", isoDate],
    ["tomorrow", isoDate],
  ])("--expires %s is refused", async (expires, message) => {
    const args = ["--store", newStore(), "--permissions", "*", "--expires", expires];
    await expect(runCommand(rootKey, args)).rejects.toThrow(new UsageError(message));
  });

  test.each([
    [["--permissions", "*"], "--store is required"],
    [["--store", "x.db", "--permissions", "*"], "--store must be memory:"],
    [["--store", "memory:", "--permissions", "*"], "--store must outlive this program"],
    [["--store", "sqlite::memory:", "--permissions", "*"], "--store must outlive this program"],
    [["--store", "sqlite:x.db"], "--permissions is required"],
    [
      ["--store", "sqlite:x.db", "--permissions", "*", "--workspace", "a b"],
      "--workspace must be 1 to 64 characters of A-Z a-z 0-9 _ -",
    ],
  ])("%j is refused before a store is opened", async (args, message) => {
    await expect(runCommand(rootKey, args)).rejects.toThrow(message);
    expect(existsSync("x.db")).toBe(false);
  });

  test("a permission that does not exist is refused by its place in the list", async () => {
    const args = ["--store", newStore(), "--permissions", "api.*.read_key,everything"];
    await expect(runCommand(rootKey, args)).rejects.toThrow(
      /^--permissions \(item 2\) must be "\*"/,
    );
  });

  test("a wrong key ring names its variable and leaves no file behind", async () => {
    const path = join(tempFolder(), "keys.db");
    const args = ["--store", `sqlite:${path}`, "--permissions", "*"];
    const env = { LATCHKEY_PEPPER: "hunter2" };
    await expect(runCommand(rootKey, args, env)).rejects.toThrow(
      new UsageError("LATCHKEY_PEPPER must hold 32 to 64 bytes in base64"),
    );
    expect(existsSync(path)).toBe(false);
  });
});
