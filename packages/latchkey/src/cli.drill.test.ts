import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { openStore } from "./open-store.js";
import { cli, endOf, runCli, spawnCli, startServer } from "./testing/run-cli.js";
import { runInProcess } from "./testing/run-in-process.js";
import { tempFolder } from "./testing/temp-folder.js";

test.each([
  ["help", ["serve", "--help"]],
  ["the version", ["--version"]],
  ["a complaint about what was typed", ["sevre"]],
  ["a complaint about an option", ["serve", "--store", "memory:", "--port", "70000"]],
])("the installed program ends with %s, as it does within this process", async (_, args) => {
  expect(await runCli(args)).toEqual(await runInProcess(args));
});

test("if it fails at run time, the installed program ends with exit code 1 and one line", async () => {
  const file = join(tempFolder(), "notes.txt");
  writeFileSync(file, "no database");
  const store = `sqlite:${file}`;
  const args = ["root-key", "--store", store, "--permissions", "*"];
  const { exitCode, stdout, stderr } = await runCli(args);
  expect(stderr).toMatch(/^latchkey: [^\n]+\n$/);
  expect(stdout).toBe("");
  expect(exitCode).toBe(1);
});

test("the program reads its environment, and repeats no secret of it", async () => {
  const env = { LATCHKEY_VAULT_KEY: "hunter2", LATCHKEY_STORE: "memory:" };
  const { exitCode, stderr } = await runCli(["serve", "--port", "0"], env);
  expect(stderr).toMatch(/^latchkey: LATCHKEY_VAULT_KEY [^\n]+\n$/);
  expect(stderr).not.toContain("hunter2");
  expect(exitCode).toBe(2);
});

test.each([
  ["its store is unreachable", "redis://app:hunter2@127.0.0.1:1", 1],
  ["the URL of its store has no known form", "redis+cluster://app:hunter2@a:port", 2],
])("serve never says that it is ready if %s", async (_, store, expected) => {
  const { exitCode, stdout, stderr } = await runCli(["serve", "--port=0"], {
    LATCHKEY_STORE: store,
  });
  expect(stderr).toMatch(/^latchkey: [^\n]+\n$/);
  expect(stderr).not.toContain("hunter2");
  expect(stdout).toBe("");
  expect(exitCode).toBe(expected);
});

/** Runs a program whose reader closes the pipe after the first line; `both`: that of stderr as well, like `2>&1 | head -1`. */
async function runForOneLine(
  args: readonly string[],
  { stdout = "pipe", both = false }: { stdout?: "pipe" | number; both?: boolean } = {},
) {
  const child = spawnCli(args, {}, ["ignore", stdout, "pipe"]);
  child.stdout?.once("data", () => {
    child.stdout?.destroy();
    if (both) child.stderr?.destroy();
  });
  return endOf(child);
}

/** Creates a SQLite store in a folder, with keys of one API, and returns its URL. */
async function storeOfKeys(folder: string, count: number, fields: object = {}) {
  const store = `sqlite:${join(folder, "keys.db")}`;
  const latchkey = createLatchkey({ store: openStore(store) });
  const { apiId } = await latchkey.createApi({ name: "tides" });
  const making = Array.from({ length: count }, () => latchkey.createKey({ apiId, ...fields }));
  const keys = await Promise.all(making);
  await latchkey.close();
  return { store, keys };
}

/** Keys that take a while to export. */
const LARGE = { meta: { text: "x".repeat(16_000) } };

test.each([
  ["its output is not", "latchkey: stdout was closed: nothing more is printed\n", false],
  ["neither its output nor its errors are", "", true],
])("leaks check disables every key, even if %s read to the end", async (_, warning, both) => {
  const { store, keys: made } = await storeOfKeys(tempFolder(), 300);
  const file = join(tempFolder(), "server.log");
  writeFileSync(file, made.map(({ key }) => key).join("\n"));
  const args = ["leaks", "check", file, "--store", store];
  const { exitCode, stderr } = await runForOneLine(args, { both });
  expect(stderr).toBe(warning);
  expect(exitCode).toBe(1);
  const latchkey = createLatchkey({ store: openStore(store) });
  const { apis } = await latchkey.listApis();
  const { keys } = await latchkey.listKeys({ apiId: apis[0]?.id ?? "", enabled: true });
  expect(keys).toEqual([]);
  await latchkey.close();
});

test.each([
  ["events read", ["events", "read"]],
  ["usage export", ["usage", "export", "--granularity", "hour"]],
])("%s prints no place to continue from if its reader left before the end", async (_, args) => {
  const store = `sqlite:${join(tempFolder(), "keys.db")}`;
  let now = Date.now() - 7_200_000;
  const latchkey = createLatchkey({ store: openStore(store), clock: () => now });
  const { apiId } = await latchkey.createApi({ name: "tides" });
  // More than a pipe holds.
  const making = Array.from({ length: 1_200 }, () => latchkey.createKey({ apiId }));
  for (const { key } of await Promise.all(making)) await latchkey.verifyKey({ key });
  now += 7_200_000;
  await latchkey.close();
  const { exitCode, stderr } = await runForOneLine([...args, "--store", store]);
  expect([exitCode, stderr]).toEqual([0, ""]);
});

test("leaks check reads more from stdin than a string can hold", { timeout: 300_000 }, async () => {
  const { store, keys } = await storeOfKeys(tempFolder(), 1);
  const [{ key, keyId }] = keys as [(typeof keys)[number]];
  const child = spawnCli(["leaks", "check", "-", "--store", store], {}, ["pipe", "pipe", "pipe"]);
  const ended = endOf(child);
  const line = `${"-".repeat(1_048_575)}\n`;
  const stdin = child.stdin as Writable;
  for (let written = 0; written < 520; written += 1)
    if (!stdin.write(line)) await Promise.race([once(stdin, "drain"), ended]);
  stdin.end(key);
  expect(await ended).toEqual({ exitCode: 1, stdout: `${keyId}\t521\tdisabled\n`, stderr: "" });
});

test.each([
  ["its log is", "latchkey: stdout was closed: nothing more is printed\n", false],
  ["its log and its errors is", "", true],
])("a server keeps serving if the reader of %s gone", async (_, warning, both) => {
  const server = await startServer(["--store", "memory:", "--log", "json"]);
  server.stopReading({ both });
  for (let asked = 0; asked < 5; asked += 1) expect((await fetch(server.url)).status).toBe(200);
  server.signal("SIGTERM");
  const { exitCode, stderr } = await server.ended;
  expect(stderr).toBe(warning);
  expect(exitCode).toBe(0);
});

test.runIf(existsSync("/dev/full"))("a full disk behind stdout is reported", async () => {
  const store = `sqlite:${join(tempFolder(), "keys.db")}`;
  const full = openSync("/dev/full", "w");
  const args = ["apis", "create", "--name", "tides", "--store", store];
  expect(await runForOneLine(args, { stdout: full })).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: "latchkey: stdout cannot be written to (ENOSPC)\n",
  });
  closeSync(full);
});

test("an export that does not fit on the disk fails, and leaves no file", async () => {
  const folder = tempFolder();
  const { store } = await storeOfKeys(folder, 20, LARGE);
  const out = join(folder, "keys.csv");
  const args = ["export", "--format", "csv", "--store", store, "--out", out];
  // 100 blocks of 512 or 1,024 bytes, so that the first write to the file is cut off in the middle.
  const limited = spawn("sh", [
    "-c",
    'ulimit -f 100; exec "$@"',
    "sh",
    process.execPath,
    cli,
    ...args,
  ]);
  const { exitCode, stderr } = await endOf(limited);
  expect(stderr).toMatch(/^latchkey: EFBIG[^\n]+\n$/);
  expect(exitCode).toBe(1);
  expect(existsSync(out)).toBe(false);
});

/** Starts an export of 1,000 keys, and resolves once it has begun to write. */
async function exportUnderWay() {
  const folder = tempFolder();
  const { store } = await storeOfKeys(folder, 1_000, LARGE);
  const out = join(folder, "export.jsonl");
  const args = ["export", "--format", "jsonl", "--store", store, "--out", out];
  const child = spawnCli(args);
  const ended = endOf(child);
  const written = () => readdirSync(folder).filter((name) => name.startsWith("export"));
  await expect.poll(written, { interval: 1 }).toHaveLength(1);
  return { child, ended, args, out, written };
}

test("a killed export leaves no file that looks like an export of fewer keys", async () => {
  const { child, ended, args, out, written } = await exportUnderWay();
  child.kill("SIGKILL");
  await ended;
  expect(written()).toEqual([expect.stringMatching(/^export\.jsonl\.[0-9a-f]{16}\.partial$/)]);
  expect((await runCli(args)).exitCode).toBe(0);
  expect(readFileSync(out, "utf8").match(/\n/g)).toHaveLength(1_000);
});

test("an export replaces no file that appeared in the meantime", async () => {
  const { ended, out, written } = await exportUnderWay();
  writeFileSync(out, "of somebody else");
  const { exitCode, stderr } = await ended;
  // After lines that say how far it is, if it takes a while.
  expect(stderr.trim().split("\n").at(-1)).toBe(
    `latchkey: --out must name a file that can be used: there is already ${out} (see --help)`,
  );
  expect(exitCode).toBe(2);
  expect(written()).toEqual(["export.jsonl"]);
  expect(readFileSync(out, "utf8")).toBe("of somebody else");
});

let printed: ReturnType<typeof runCli> | undefined;

/** The completion script of the installed program for bash, printed only once. */
function script() {
  printed ??= runCli(["completion", "bash"]);
  return printed;
}

test.each([
  ["latchkey ke", "keys"],
  ["latchkey keys cr", "create"],
  ["latchkey keys create api_1 --byte", "--byte-length"],
  ["latchkey root-key revoke --wor", "--workspace"],
  ["latchkey doctor --f", "--fix"],
])("bash completes %s", async (typed, completed) => {
  const { stdout } = await script();
  const words = typed.split(" ");
  const asked = `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _latchkey; echo "\${COMPREPLY[*]}"`;
  const completions = execFileSync("bash", ["-c", `${stdout}\n${asked}`], { encoding: "utf8" });
  expect(completions).toBe(`${completed}\n`);
});
