import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "./testing/run-cli.js";
import { runInProcess } from "./testing/run-in-process.js";
import { tempFolder } from "./testing/temp-folder.js";

test.each([
  ["help", ["serve", "--help"]],
  ["the version", ["--version"]],
  ["a complaint about what was typed", ["sevre"]],
  ["a complaint about an option", ["serve", "--store", "memory:", "--port", "70000"]],
])("the installed program ends with %s as it does in this process", async (_, args) => {
  expect(await runCli(args)).toEqual(await runInProcess(args));
});

test("a failure at run time ends the installed program with exit code 1 and one line", async () => {
  const file = join(tempFolder(), "notes.txt");
  writeFileSync(file, "no database");
  const store = `sqlite:${file}`;
  const args = ["root-key", "--store", store, "--permissions", "*"];
  const { exitCode, stdout, stderr } = await runCli(args);
  expect(stderr).toMatch(/^latchkey: [^\n]+\n$/);
  expect(stdout).toBe("");
  expect(exitCode).toBe(1);
});

test("the environment of the program is read, and no secret in it is repeated", async () => {
  const env = { LATCHKEY_VAULT_KEY: "hunter2", LATCHKEY_STORE: "memory:" };
  const { exitCode, stderr } = await runCli(["serve", "--port", "0"], env);
  expect(stderr).toMatch(/^latchkey: LATCHKEY_VAULT_KEY [^\n]+\n$/);
  expect(stderr).not.toContain("hunter2");
  expect(exitCode).toBe(2);
});

test.each([
  ["it is not there", "redis://app:hunter2@127.0.0.1:1", 1],
  ["its URL is of no known form", "redis+cluster://app:hunter2@a:port", 2],
])("serve never says that it is ready, when of its store %s", async (_, store, expected) => {
  const { exitCode, stdout, stderr } = await runCli(["serve", "--port=0"], {
    LATCHKEY_STORE: store,
  });
  expect(stderr).toMatch(/^latchkey: [^\n]+\n$/);
  expect(stderr).not.toContain("hunter2");
  expect(stdout).toBe("");
  expect(exitCode).toBe(expected);
});

let printed: ReturnType<typeof runCli> | undefined;

/** What the installed program prints for bash: asked for once. */
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
