import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cliStore } from "../testing/cli-store.js";
import { runInProcess } from "../testing/run-in-process.js";
import { tempFolder } from "../testing/temp-folder.js";
import { forTransfer, TRANSFER_PATIENCE_MS } from "./named-store.js";
import { PASSWORD_IN_ARGUMENTS } from "./secret-input.js";
import { chooseStore } from "./store-options.js";

describe("a store", () => {
  test("can be named by a variable instead of an argument", async () => {
    const { url, json } = cliStore();
    await json("apis create --name payments");
    const env = { KEYS_URL: url, COPY_URL: `sqlite:${join(tempFolder(), "copy.db")}` };
    const list = ["apis", "list", "--store-env", "KEYS_URL"];
    expect((await runInProcess(list, env)).stdout).toContain("payments");
    const copy = ["copy", "--from-env", "KEYS_URL", "--to-env", "COPY_URL"];
    expect(await runInProcess(copy, env)).toMatchObject({ exitCode: 0, stderr: "" });
    const moved = ["apis", "list", "--store-env", "COPY_URL"];
    expect((await runInProcess(moved, env)).stdout).toContain("payments");
  });

  test.each([
    [
      ["apis", "list", "--store-env", "KEYS"],
      "--store-env must name a variable that is set: KEYS is not",
    ],
    [
      ["apis", "list", "--store-env", "EMPTY"],
      "--store-env must name a variable that is set: EMPTY is not",
    ],
    [
      ["apis", "list", "--store-env", "redis://h:6379"],
      "--store-env must be the name of an environment variable",
    ],
    [
      ["apis", "list", "--store-env", "BAD", "--store", "memory:"],
      "--store and --store-env cannot be used together",
    ],
    [["copy", "--to", "sqlite:a.db"], "--from is required"],
    [["copy", "--from-env", "BAD", "--to", "sqlite:a.db"], "--from-env must be memory:, "],
    [
      ["copy", "--from-env", "MEMORY", "--to", "sqlite:a.db"],
      "--from-env must be one that a server uses",
    ],
    [["import", "--from", "csv", "--store", "sqlite:a.db"], "<place> is required"],
    [
      ["import", "a.csv", "--place-env", "BAD", "--from", "csv", "--store", "sqlite:a.db"],
      "<place> and --place-env cannot be used together",
    ],
  ])("%j is refused, and the value is never shown", async (args, message) => {
    const env = { EMPTY: "", BAD: "hunter2", MEMORY: "memory:" };
    const { exitCode, stderr } = await runInProcess(args, env);
    expect(stderr).toContain(`latchkey: ${message}`);
    expect(stderr).not.toContain("hunter2");
    expect(exitCode).toBe(2);
    expect(existsSync("a.db")).toBe(false);
  });

  test.concurrent.each([
    ["--store redis://app:hunter2@127.0.0.1:1", 1],
    ["--store=rediss://:hunter2@127.0.0.1:1", 1],
    ["--store redis+cluster://app:hunter2@127.0.0.1:1,127.0.0.1:2", 1],
    ["--store postgres://app:hunter2@127.0.0.1:1/keys", 1],
    ["--store postgresql://127.0.0.1:1/keys?user=app&password=hunter2", 1],
    ["--store postgres://app@127.0.0.1:1/keys", 0],
    ["--store redis://127.0.0.1:1/0", 0],
    ["--store sqlite:./a:b@c.db", 0],
  ])(
    "causes a warning if its URL is an argument and contains a password: %s",
    async (option, count) => {
      const { stderr } = await runInProcess(["apis", "list", ...option.split(" ")]);
      expect(stderr.split(PASSWORD_IN_ARGUMENTS).length - 1).toBe(count);
      expect(stderr).not.toContain("hunter2");
    },
  );
});

const NOWHERE = "postgres://app:hunter2@127.0.0.1:1/keys";

test.each([
  ["copy --from-env NOWHERE --to-env EXISTING"],
  ["copy --from-env EXISTING --to-env NOWHERE"],
  ["copy --from-env NOWHERE --take-back --force"],
  ["restore --store-env NOWHERE --in backup"],
  ["backup --store-env NOWHERE --out backup.2"],
])("an error says which store does not answer, without its password: %s", async (command) => {
  const { url, json } = cliStore();
  await json("apis create --name payments");
  const backup = join(tempFolder(), "keys.lkb");
  const env = { EXISTING: url, NOWHERE };
  await runInProcess(["backup", "--out", backup, "--store", url]);
  const args = command.replace("backup.2", `${backup}.2`).replace(/ backup$/, ` ${backup}`);
  const { exitCode, stderr } = await runInProcess(args.split(" "), env);
  expect(stderr).toContain("; the store is postgres://127.0.0.1:1/keys\n");
  expect(exitCode).toBe(1);
});

test.each([
  [["--store", "sqlite:a.db"], {}, "--store"],
  [["--store-env", "KEYS"], { KEYS: "sqlite:a.db" }, "--store-env"],
  [[], { LATCHKEY_STORE: "sqlite:a.db" }, "LATCHKEY_STORE"],
] as const)("an error names the option or variable of the URL: %j", async (args, env, called) => {
  const { exitCode, stderr } = await runInProcess(["migrate", ...args], env);
  expect(stderr).toBe(
    `latchkey: ${called} must be postgres://…: other stores need no migration (see --help)\n`,
  );
  expect(exitCode).toBe(2);
});

describe("a workspace", () => {
  test("that was never created and is empty is an error, except the default one", async () => {
    const { run, url } = cliStore();
    expect((await run("workspace list")).exitCode).toBe(2);
    await run("apis create --name payments");
    for (const args of [
      "apis list",
      "apis create --name tides",
      "audit",
      "doctor",
      "workspace get",
    ])
      expect(await run(`${args} --workspace ws_typo`)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(
          "latchkey: --workspace must name a workspace: ws_typo was never created and holds nothing (workspace create makes one)",
        ),
      });
    const env = { LATCHKEY_STORE: url, LATCHKEY_WORKSPACE: "ws_typo" };
    const root = ["root-key", "--permissions", "*"];
    expect((await runInProcess(root, env)).stderr).toContain(
      "LATCHKEY_WORKSPACE must name a workspace",
    );
    const serve = ["serve", "--port", "0"];
    expect((await runInProcess(serve, env)).stderr).toContain(
      "LATCHKEY_WORKSPACE must name a workspace",
    );
    expect((await run("apis list --workspace ws_default")).exitCode).toBe(0);
    expect((await run("workspace list")).stdout).not.toContain("ws_typo");
  });

  test("that was created, enabled, disabled or filled is accepted", async () => {
    const { run } = cliStore();
    const id = (await run("workspace create")).stdout.trim();
    expect(await run(`apis list --workspace ${id}`)).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
    await run("workspace disable ws_winds");
    expect((await run("workspace get --workspace ws_winds")).exitCode).toBe(0);
  });
});

test("a transfer waits longer for every call than a server does, and keeps the options of the store", () => {
  const given = { allowEviction: true, schema: "keys" } as const;
  const choice = chooseStore("redis://localhost:6379/0", "--from", given, "existing");
  const patience = TRANSFER_PATIENCE_MS;
  expect(patience).toBeGreaterThan(2_000);
  expect(forTransfer(choice)).toEqual({
    ...choice,
    options: {
      sqlite: { deadlineMs: patience },
      redis: { ...choice.options.redis, commandTimeoutMs: patience, configTimeoutMs: patience },
      postgres: { ...choice.options.postgres, chargeTimeoutMs: patience, timeoutMs: patience },
    },
  });
});
