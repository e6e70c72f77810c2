import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PASSWORD_IN_ARGUMENTS } from "./command-line/secret-input.js";
import { REPOSITORY } from "./testing/pages.js";
import { runInProcess } from "./testing/run-in-process.js";
import { tempFolder } from "./testing/temp-folder.js";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** The output without the warning about a password in the arguments. */
const withoutWarning = (stderr: string) =>
  stderr.replace(`latchkey: ${PASSWORD_IN_ARGUMENTS}\n`, "");

describe("the program", () => {
  test.each([
    [["--help"], "Usage: latchkey <command>"],
    [["-h"], "Usage: latchkey <command>"],
    [["serve", "--help"], "Usage: latchkey serve"],
    [["root-key", "-h"], "Usage: latchkey root-key"],
    [["workspace", "disable", "--help"], "Usage: latchkey workspace"],
    [["events", "--help"], "Usage: latchkey events"],
    [["help"], "Usage: latchkey <command>"],
    [["help", "keys"], "Usage: latchkey keys"],
    [["help", "events", "read"], "Usage: latchkey events read"],
  ])("%j prints usage, options, an example and the environment", async (args, usage) => {
    const { exitCode, stdout, stderr } = await runInProcess(args);
    expect(stdout.startsWith(usage)).toBe(true);
    for (const part of ["\nOptions:\n", "\nExample:\n", "\nEnvironment:\n", "LATCHKEY_PEPPER"]) {
      expect(stdout).toContain(part);
    }
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
  });

  test.each([
    ["serve", true],
    ["root-key create", false],
    ["workspace disable", false],
  ])("the help of %s lists the stores it accepts; in memory: %s", async (name, takesMemory) => {
    const { stdout } = await runInProcess([...name.split(" "), "--help"]);
    for (const form of ["sqlite:./keys.db", "redis://", "rediss://", "redis+cluster://"]) {
      expect(stdout).toContain(form);
    }
    expect(stdout.includes("memory:")).toBe(takesMemory);
  });

  test("the help of a group shows all of its examples, and that of a command only its own", async () => {
    const examplesOf = async (...args: string[]) => {
      const { stdout } = await runInProcess([...args, "--help"]);
      expect(stdout.split("\nExample:\n")).toHaveLength(2);
      return /\nExample:\n((?: {2}.*\n)+)/.exec(stdout)?.[1]?.trim().split("\n  ") ?? [];
    };
    const all = await examplesOf("keys");
    expect(all.length).toBeGreaterThan(5);
    expect(await examplesOf("keys", "rotate")).toEqual(["latchkey keys rotate <keyId> --grace 1d"]);
    expect(await examplesOf("keys", "update")).toEqual([
      "latchkey keys update <keyId> --expires 30d --clear name",
    ]);
    expect(await examplesOf("events", "read")).toHaveLength(1);
    expect(await examplesOf("roles", "list")).toEqual(await examplesOf("roles"));
  });

  test("--version prints the version of the package", async () => {
    const { exitCode, stdout } = await runInProcess(["--version"]);
    expect(stdout).toBe(`${manifest.version}\n`);
    expect(exitCode).toBe(0);
  });

  test("is a file in the repository, because package managers link it before anything is built", () => {
    const program = readFileSync(new URL(`../${manifest.bin.latchkey}`, import.meta.url), "utf8");
    expect(program).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(manifest.bin.latchkey).not.toContain("dist/");
    expect(manifest.files).toContain("bin");
  });

  test.each([
    [[], /^the first argument must be a command: serve, console, apis, .*$/],
    [["list", "keys"], /: did you mean keys list\?$/],
    [["sevre"], /^the first argument must be a command: .*: did you mean serve\?$/],
    [["--store", "memory:"], /^options come after the command: serve, /],
    [
      ["serve", "--port", "70000", "--store", "memory:"],
      /^--port must be a whole number from 0 to 65535$/,
    ],
  ])("%j ends with exit code 2 and one line on stderr", async (args, message) => {
    const { exitCode, stdout, stderr } = await runInProcess(args);
    expect(/^latchkey: ([^\n]*) \(see --help\)\n$/.exec(stderr)?.[1]).toMatch(message);
    expect(stdout).toBe("");
    expect(exitCode).toBe(2);
  });

  test("an error at run time ends with exit code 1 and one line without a stack", async () => {
    const file = join(tempFolder(), "notes.txt");
    writeFileSync(file, "no database");
    const { exitCode, stdout, stderr } = await runInProcess([
      "root-key",
      "--store",
      `sqlite:${file}`,
      "--permissions",
      "*",
    ]);
    expect(stderr).toMatch(/^latchkey: [^\n]+\n$/);
    expect(stderr).not.toContain(" at ");
    expect(stdout).toBe("");
    expect(exitCode).toBe(1);
  });

  test.each([
    ["redis://app:hunter2@127.0.0.1/keys", {}, "--store"],
    ["redis+cluster://app:hunter2@a:port", {}, "--store"],
    ["postgres://app:hunter2@a b/keys", {}, "--store"],
    [null, { LATCHKEY_STORE: "redis://app:hunter2@127.0.0.1/keys" }, "LATCHKEY_STORE"],
  ])("the invalid store URL %s ends with 2", async (url, env, called) => {
    const store = url === null ? [] : ["--store", url];
    const args = ["workspace", "enable", "ws_tides", ...store];
    const { exitCode, stderr } = await runInProcess(args, env);
    expect(withoutWarning(stderr)).toMatch(new RegExp(`^latchkey: ${called} must be [^\\n]+\\n$`));
    expect(stderr).not.toContain("hunter2");
    expect(exitCode).toBe(2);
  });

  test.each([
    [["apis", "list"], "keys.db", "there is no file"],
    [["apis", "create", "--name", "abc"], join("missing", "keys.db"), "there is no folder"],
  ])("%j on a missing store ends with 2", async (args, file, message) => {
    const store = `sqlite:${join(tempFolder(), file)}`;
    const { exitCode, stderr } = await runInProcess([...args, "--store", store]);
    expect(stderr).toContain(`latchkey: --store must name a file that can be used: ${message} `);
    expect(exitCode).toBe(2);
  });

  test.each([["migrate"], ["apis", "list"]])(
    "an invalid schema name ends with 2: %s",
    async (...args) => {
      const store = ["--store", "postgres://app@127.0.0.1:1/keys", "--schema", "Keys"];
      const { exitCode, stderr } = await runInProcess([...args, ...store]);
      expect(stderr).toMatch(/^latchkey: --schema must be 1 to 48 lower case letters[^\n]+\n$/);
      expect(exitCode).toBe(2);
    },
  );

  test("a store that does not answer is named, without its password", async () => {
    const args = ["apis", "list", "--store", "postgres://app:hunter2@127.0.0.1:1/keys"];
    const { exitCode, stderr } = await runInProcess(args);
    expect(withoutWarning(stderr)).toMatch(
      /^latchkey: PostgreSQL is not connected: nothing listens at its address: .* \(ECONNREFUSED\); the store is postgres:\/\/127\.0\.0\.1:1\/keys\n$/,
    );
    expect(exitCode).toBe(1);
  });

  test("no help is wider than 100 columns or shows a default twice, and options list their choices", async () => {
    const { stdout } = await runInProcess(["completion", "fish"]);
    // The script has a line for each option, so each command occurs many times.
    const groups = [...stdout.matchAll(/ -a ([a-z-]+) -d /g)].map(([, name = ""]) => name);
    const names = stdout.matchAll(
      /__fish_seen_subcommand_from (\S+); and __fish_seen_subcommand_from (\S+)"/g,
    );
    const commands = new Set([...groups, ...[...names].map(([, ...words]) => words.join(" "))]);
    expect(commands.size).toBeGreaterThan(80);
    for (const command of commands) {
      const help = await runInProcess([...command.split(" "), "--help"]);
      const options = help.stdout.replaceAll(/\n {6,}/g, " ").split("\n");
      const twice = options.filter((line) => (line.match(/\(default\b/g) ?? []).length > 1);
      expect([command, twice]).toEqual([command, []]);
      expect(help.stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
    }
    expect((await runInProcess(["usage", "--help"])).stdout).toContain(
      '(choices: "hour", "day", "month")',
    );
  });

  test("the documentation of the command line names every option", async () => {
    const page = readFileSync(join(REPOSITORY, "docs", "command-line.md"), "utf8");
    const named = new Set<string>(page.match(/--[a-z][a-z-]*/g));
    const { stdout } = await runInProcess(["completion", "fish"]);
    const options = new Set([...stdout.matchAll(/ -l ([a-z-]+) /g)].map(([, name]) => `--${name}`));
    expect(options.size).toBeGreaterThan(100);
    expect([...options].filter((option) => !named.has(option))).toEqual([]);
  });

  test("stderr never repeats a typed or configured secret", async () => {
    const env = { LATCHKEY_VAULT_KEY: "hunter2" };
    const runs = [
      runInProcess(["serve", "--port", "0", "--store", "mongodb://app:hunter2@127.0.0.1"]),
      runInProcess(["serve", "--port", "0", "--password", "hunter2"]),
      runInProcess(["root-key", "hunter2"]),
      runInProcess(["serve", "--port", "0", "--store", "memory:"], env),
    ];
    for (const { exitCode, stderr } of await Promise.all(runs)) {
      expect(stderr).toMatch(/^latchkey: [^\n]+\n$/);
      expect(stderr).not.toContain("hunter2");
      expect(exitCode).toBe(2);
    }
  });
});
