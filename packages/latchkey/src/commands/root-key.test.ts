import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLatchkey, type Latchkey } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { UsageError } from "../command-line/failures.js";
import { keyRingsFromEnv } from "../key-rings-from-env.js";
import { openStore } from "../open-store.js";
import { runCommand } from "../testing/run-command.js";
import { tempFolder } from "../testing/temp-folder.js";

const newStore = () => `sqlite:${join(tempFolder(), "keys.db")}`;

async function whomItSpeaksFor(store: string, key: string, env: Record<string, string> = {}) {
  const latchkey = createLatchkey({ store: openStore(store), ...keyRingsFromEnv(env) });
  const outcome = await latchkey.authenticateRootKey(key);
  await latchkey.close();
  return outcome;
}

describe("latchkey root-key", () => {
  test("issues a root key even without the word create", async () => {
    const store = newStore();
    const args = ["--store", store, "--permissions", "*"];
    for (const words of [[], ["create"]]) {
      const [key = ""] = await runCommand(["root-key", ...words, ...args]);
      expect(await whomItSpeaksFor(store, key)).toMatchObject({ permissions: ["*"] });
    }
    await expect(runCommand(["root-key", "create", "deploys", ...args])).rejects.toThrow(
      new UsageError("too many arguments: expected options only"),
    );
  });

  test("without --workspace the key belongs to the default workspace", async () => {
    const store = newStore();
    const [key = ""] = await runCommand(["root-key", "--store", store, "--permissions", "*"]);
    expect(await whomItSpeaksFor(store, key)).toMatchObject({ workspaceId: "ws_default" });
  });

  test("the store may come from LATCHKEY_STORE", async () => {
    const store = newStore();
    const [key = ""] = await runCommand(["root-key", "--permissions", "*"], {
      LATCHKEY_STORE: store,
    });
    expect(await whomItSpeaksFor(store, key)).toMatchObject({ kind: "authenticated" });
  });

  test("the pepper of the environment goes into the hash", async () => {
    const store = newStore();
    const env = { LATCHKEY_PEPPER: randomBytes(32).toString("base64") };
    const [key = ""] = await runCommand(["root-key", "--store", store, "--permissions", "*"], env);
    expect(await whomItSpeaksFor(store, key, env)).toMatchObject({ kind: "authenticated" });
    expect(await whomItSpeaksFor(store, key)).toEqual({ kind: "refused" });
  });

  test.each(["9999-12-31", "9999-12-31T23:59Z", "9999-12-31T23:59:59.999+02:00"])(
    "--expires takes %s",
    async (expires) => {
      const args = ["--store", newStore(), "--permissions", "*", "--expires", expires];
      expect(await runCommand(["root-key", ...args])).toHaveLength(1);
    },
  );

  const isoDate =
    "--expires must be an ISO date, such as 2031-05-17 or 2031-05-17T09:30:00Z, or a span from now on, such as 30d";
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
    ["0d", isoDate],
    ["-30d", isoDate],
    ["9007199254740991d", isoDate],
  ])("--expires %s is refused", async (expires, message) => {
    const args = ["--store", newStore(), "--permissions", "*", "--expires", expires];
    await expect(runCommand(["root-key", ...args])).rejects.toThrow(new UsageError(message));
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
    await expect(runCommand(["root-key", ...args])).rejects.toThrow(message);
    expect(existsSync("x.db")).toBe(false);
  });

  test("an unknown permission is refused by its place in the list", async () => {
    const args = ["--store", newStore(), "--permissions", "api.*.read_key,everything"];
    await expect(runCommand(["root-key", ...args])).rejects.toThrow(
      /^--permissions \(item 2\) must be "\*"/,
    );
  });

  test.each(["prune", "hunter2"])(
    "the unknown word %s is refused and not repeated",
    async (action) => {
      const run = runCommand(["root-key", action, "--store", newStore(), "--permissions", "*"]);
      await expect(run).rejects.toThrow(UsageError);
      await expect(run).rejects.not.toThrow(action);
    },
  );

  test("a wrong key ring names its variable and leaves no file behind", async () => {
    const path = join(tempFolder(), "keys.db");
    const args = ["--store", `sqlite:${path}`, "--permissions", "*"];
    const env = { LATCHKEY_PEPPER: "hunter2" };
    await expect(runCommand(["root-key", ...args], env)).rejects.toThrow(
      new UsageError("LATCHKEY_PEPPER must hold 32 to 64 bytes in base64"),
    );
    expect(existsSync(path)).toBe(false);
  });
});

/** A store with these root keys in one workspace, created at the start of 2001. */
async function storeWith(...wanted: Parameters<Latchkey["createRootKey"]>[0][]) {
  const store = newStore();
  const latchkey = createLatchkey({
    store: openStore(store),
    workspaceId: "ws_tides",
    clock: () => Date.UTC(2001, 0, 1),
  });
  const made = [];
  for (const rootKey of wanted) made.push(await latchkey.createRootKey(rootKey));
  await latchkey.close();
  return { made, args: ["--store", store, "--workspace", "ws_tides"], store };
}

describe("latchkey root-key list", () => {
  test("prints a line for each root key of the workspace, and no secret", async () => {
    const { made, args } = await storeWith(
      { permissions: ["*"], name: "deploys\n\u001b[2J" },
      { permissions: ["api.*.read_key", "api.*.read_api"], expires: Date.UTC(9999, 11, 31) },
      { permissions: ["*"], expires: Date.UTC(2001, 0, 2) },
    );
    const lines = await runCommand(["root-key", "list", ...args]);
    const start = expect.stringMatching(/^lk_root_\w{1,6}$/);
    expect(lines.map((line) => line.split("\t"))).toEqual([
      [made[0]?.rootKeyId, start, "enabled", "never", "*", "deploys\\u000a\\u001b[2J"],
      [
        made[1]?.rootKeyId,
        start,
        "enabled",
        "9999-12-31T00:00:00.000Z",
        "api.*.read_key,api.*.read_api",
        "",
      ],
      [made[2]?.rootKeyId, start, "expired", "2001-01-02T00:00:00.000Z", "*", ""],
    ]);
    for (const [index, { key }] of made.entries())
      expect(key.startsWith(lines[index]?.split("\t")[1] as string)).toBe(true);
    expect(await runCommand(["root-key", "list", ...args.slice(0, 2)])).toEqual([]);
  });

  test("prints all of them, however many", async () => {
    const wanted = Array.from({ length: 201 }, () => ({ permissions: ["*"] }));
    const { made, args } = await storeWith(...wanted);
    const ids = (await runCommand(["root-key", "list", ...args])).map(
      (line) => line.split("\t")[0],
    );
    expect(ids).toEqual(made.map(({ rootKeyId }) => rootKeyId));
  });
});

describe("latchkey root-key revoke", () => {
  test("revokes the key for every process that has the store open, and leaves the others", async () => {
    const { made, args, store } = await storeWith({ permissions: ["*"] }, { permissions: ["*"] });
    const [gone, kept] = made;
    const latchkey = createLatchkey({ store: openStore(store) });
    const kinds = async () =>
      Promise.all(made.map(async ({ key }) => (await latchkey.authenticateRootKey(key)).kind));
    expect(await kinds()).toEqual(["authenticated", "authenticated"]);
    expect(await runCommand(["root-key", "revoke", gone?.rootKeyId ?? "", ...args])).toEqual([
      `root key ${gone?.rootKeyId} is revoked`,
    ]);
    expect(await kinds()).toEqual(["refused", "authenticated"]);
    await latchkey.close();
    expect((await runCommand(["root-key", "list", ...args]))[0]).toMatch(`${kept?.rootKeyId}\t`);
  });

  test("of an unknown key, or one of another workspace, names the workspace and not the typed text", async () => {
    const { made, args } = await storeWith({ permissions: ["*"] });
    const id = made[0]?.rootKeyId ?? "";
    await expect(runCommand(["root-key", "revoke", "hunter2", ...args])).rejects.toThrow(
      /^workspace ws_tides has no such root key$/,
    );
    await expect(runCommand(["root-key", "revoke", id, ...args.slice(0, 2)])).rejects.toThrow(
      /^workspace ws_default has no such root key$/,
    );
    expect(await runCommand(["root-key", "list", ...args])).toHaveLength(1);
  });
});

describe("latchkey root-key update and rotate", () => {
  test("change the permissions of a key and replace it, for every process that has the store open", async () => {
    const { made, args, store } = await storeWith({ permissions: ["*"] });
    const [{ rootKeyId, key } = { rootKeyId: "", key: "" }] = made;
    const latchkey = createLatchkey({ store: openStore(store) });
    const permissions = ["--permissions", "api.*.read_api"];
    expect(await runCommand(["root-key", "update", rootKeyId, ...permissions, ...args])).toEqual([
      `root key ${rootKeyId} is updated`,
    ]);
    expect(await latchkey.authenticateRootKey(key)).toMatchObject({
      permissions: ["api.*.read_api"],
    });
    const update = ["root-key", "update", rootKeyId, ...args];
    const tides = latchkey.workspace("ws_tides");
    await runCommand([...update, "--name", "ops", "--expires", "1d"]);
    const [named] = (await tides.listRootKeys()).rootKeys;
    expect(named).toMatchObject({ name: "ops", expires: expect.any(Number) });
    await runCommand([...update, "--clear", "name,expires"]);
    const [cleared] = (await tides.listRootKeys()).rootKeys;
    expect(cleared).not.toHaveProperty("name");
    expect(cleared).not.toHaveProperty("expires");
    const [rotated = ""] = await runCommand(["root-key", "rotate", rootKeyId, ...args]);
    expect(await latchkey.authenticateRootKey(key)).toEqual({ kind: "refused" });
    expect(await latchkey.authenticateRootKey(rotated)).toMatchObject({
      kind: "authenticated",
      permissions: ["api.*.read_api"],
    });
    await latchkey.close();
    await expect(runCommand(["root-key", "rotate", rootKeyId, ...args])).rejects.toThrow(
      "this root key was already rotated",
    );
  });

  test("of an unknown key name the workspace, and an update needs something to change", async () => {
    const { made, args } = await storeWith({ permissions: ["*"] });
    const id = made[0]?.rootKeyId ?? "";
    for (const words of [
      ["update", "hunter2", "--name", "x"],
      ["rotate", "hunter2", "--grace", "1d"],
    ])
      await expect(runCommand(["root-key", ...words, ...args])).rejects.toThrow(
        /^workspace ws_tides has no such root key$/,
      );
    for (const [words, message] of [
      [[], "--permissions, --name, --expires or --clear is required"],
      [["--clear", "permissions"], "--clear must be a list of name and expires"],
      [["--clear", "name", "--name", "x"], '--clear must not name "name", which is given a value'],
    ] as const)
      await expect(runCommand(["root-key", "update", id, ...words, ...args])).rejects.toThrow(
        new UsageError(message),
      );
  });
});

describe("latchkey root-key list and revoke", () => {
  test.each([
    [["list"], "--store is required"],
    [["list", "root_1", "--store", "sqlite:x.db"], "too many arguments: expected options only"],
    [["revoke", "--store", "sqlite:x.db"], "<rootKeyId> is required"],
    [["revoke", "root_1", "--store", "memory:"], "--store must be one that a server uses"],
    [["revoke", "root_1", "--store", "sqlite:x.db"], "there is no file x.db"],
    [["list", "--store", "sqlite:x.db"], "there is no file x.db"],
    [["list", "--store", "sqlite:x.db", "--name", "n"], "unknown option --name"],
    [
      ["revoke", "root_1", "--store", "sqlite:x.db", "--permissions", "*"],
      "unknown option --permissions",
    ],
    [["list", "--workspace", "a b", "--store", "sqlite:x.db"], "--workspace must be 1 to 64"],
  ])("%j is refused, and creates no file", async (args, message) => {
    await expect(runCommand(["root-key", ...args])).rejects.toThrow(message);
    expect(existsSync("x.db")).toBe(false);
  });
});
