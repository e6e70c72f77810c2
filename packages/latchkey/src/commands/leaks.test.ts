import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { cliStore } from "../testing/cli-store.js";
import { tempFolder } from "../testing/temp-folder.js";

const FOREIGN = "sk_live_0123456789abcdef0123456789abcdef";

async function open() {
  const cli = cliStore();
  const latchkey = createLatchkey({ store: openStore(cli.url) });
  const { apiId } = await latchkey.createApi({ name: "tides" });
  const issue = (prefix?: string) => latchkey.createKey({ apiId, ...(prefix && { prefix }) });
  const one = await issue("pay_live");
  const two = await issue();
  const three = await issue("a-b");
  const kept = await issue("pay_live");
  const { keyIds } = await latchkey.createKeys([{ apiId, plaintext: FOREIGN }]);
  const root = await latchkey.createRootKey({ permissions: ["*"] });
  await latchkey.close();
  return { ...cli, one, two, three, kept, root, foreignId: keyIds[0] ?? "" } as const;
}

test("leaks check finds every key in a text, disables it, and ends with 1", async () => {
  const { run, json, one, two, three, kept, root, foreignId } = await open();
  const text = [
    "nothing here",
    `GET /tiles?next=%3D${one.key}&x=1 "Bearer ${one.key}"`,
    `{"a":"\\n${two.key}","b":"=${three.key}","root":"${root.key}"}`,
    `export TIDES=${FOREIGN}.`,
    `key_11ShWf7rF113B2FsigQ732HdGV ${kept.key.slice(0, -1)}`,
  ].join("\n");
  const file = join(tempFolder(), "server.log");
  writeFileSync(file, text);
  const { exitCode, stdout, stderr } = await run(`leaks check ${file} --prefixes sk_live`);
  expect([exitCode, stderr]).toEqual([1, ""]);
  const found = [
    [one.keyId, 2],
    [two.keyId, 3],
    [three.keyId, 3],
    [root.rootKeyId, 3],
    [foreignId, 4],
  ] as const;
  expect(stdout).toBe(found.map(([id, line]) => `${id}\t${line}\tdisabled\n`).join(""));
  const again = await run(`leaks check ${file} --prefixes sk_live --json`);
  expect(again.exitCode).toBe(1);
  expect(
    again.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(
    found.map(([id, line]) => ({
      [id?.startsWith("root_") ? "rootKeyId" : "keyId"]: id,
      action: "disabled",
      isRepeat: true,
      line,
    })),
  );
  for (const { keyId } of [one, two, three])
    expect(await json(`keys get ${keyId}`)).toMatchObject([{ enabled: false }]);
  expect(await json(`keys get ${kept.keyId}`)).toMatchObject([{ enabled: true }]);
  const entry = (await json(`audit --key-id ${one.keyId}`)).at(-1);
  expect(entry).toMatchObject({
    type: "key.leaked",
    actor: "cli",
    changes: [
      { field: "action", after: "disabled" },
      { field: "url", after: file },
      { field: "source", after: "leaks check" },
    ],
  });
  expect(stdout + again.stdout + JSON.stringify(entry)).not.toContain(one.key);
});

test("leaks check reads a pipe from its first character on: leaks check <(git log -p)", async () => {
  const { run, one } = await open();
  const pipe = join(tempFolder(), "pipe");
  execFileSync("mkfifo", [pipe]);
  const writing = writeFile(pipe, one.key);
  expect(await run(`leaks check ${pipe}`)).toMatchObject({
    exitCode: 1,
    stdout: `${one.keyId}\t1\tdisabled\n`,
  });
  await writing;
});

test("leaks check reads stdin, applies --policy, and ends with 0 if there is no key", async () => {
  const { run, json, one } = await open();
  const stdin = (text: string) => ({ readInput: async () => text });
  const report = await run("leaks check - --policy report", stdin(`a\r\n${one.key}\r\n`));
  expect(report).toEqual({ exitCode: 1, stdout: `${one.keyId}\t2\treported\n`, stderr: "" });
  expect(await json(`keys get ${one.keyId}`)).toMatchObject([{ enabled: true }]);
  const none = await run("leaks check -", stdin("nothing"));
  expect(none).toEqual({ exitCode: 0, stdout: "", stderr: "" });
});

test("leaks check does what the policy says, even if an earlier run with another policy found the same", async () => {
  const { run, json, one, root } = await open();
  const file = join(tempFolder(), "server.log");
  writeFileSync(file, `${one.key}\n${root.key}\n`);
  const states = async (options: string) =>
    (await run(`leaks check ${file}${options}`)).stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t")[2]);
  expect(await states(" --policy report")).toEqual(["reported", "reported"]);
  expect(await states(" --policy report")).toEqual(["reported before", "reported before"]);
  expect(await states("")).toEqual(["disabled", "disabled"]);
  expect(await json(`keys get ${one.keyId}`)).toMatchObject([{ enabled: false }]);
  expect(await states("")).toEqual(["disabled before", "disabled before"]);
  expect(await states(" --policy delete")).toEqual(["deleted", "deleted"]);
  expect(await json("keys list tides")).not.toContainEqual(
    expect.objectContaining({ id: one.keyId }),
  );
});

test("leaks check refuses a missing file, a secret as an argument, and unknown policies", async () => {
  const { run, one } = await open();
  for (const [args, message] of [
    ["leaks check ./none.log", "<file> must name a file that can be used: there is no ./none.log"],
    [`leaks check ${tempFolder()}`, "<file> must name a file that can be used: a folder is"],
    [`leaks check ${one.key}`, "a secret must not be an argument"],
    ["leaks check - --policy revoke", "--policy must be disable or report or delete or rotate"],
    ["leaks check", "<file> is required"],
  ] as const) {
    const { exitCode, stderr } = await run(args);
    expect([args, exitCode]).toEqual([args, 2]);
    expect(stderr).toContain(message);
  }
});

test.each([
  ["of either byte order", (text: string) => Buffer.from(text, "utf16le").swap16()],
  ["", (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le")],
])("leaks check finds keys in UTF-16 %s, and beside NUL in other files", async (_, encoded) => {
  const { run, one, two, three, foreignId } = await open();
  const folder = tempFolder();
  const file = join(folder, "server.log");
  writeFileSync(file, encoded(`nothing here\r\nkey="${one.key}"\r\n${FOREIGN}\r\n`));
  const { exitCode, stdout } = await run(`leaks check ${file} --prefixes sk_live`);
  expect(stdout).toBe(`${one.keyId}\t2\tdisabled\n${foreignId}\t3\tdisabled\n`);
  expect(exitCode).toBe(1);
  const dump = join(folder, "dump");
  writeFileSync(dump, `a\0${two.key}\0${three.key}\0b\n`);
  expect((await run(`leaks check ${dump}`)).stdout).toBe(
    `${two.keyId}\t1\tdisabled\n${three.keyId}\t1\tdisabled\n`,
  );
});

test("leaks check finds keys in a text of many lines, each once", async () => {
  const { run, one, two } = await open();
  const noise = Array.from({ length: 20_000 }, (_, at) => `line ${at} ${one.key}`);
  const file = join(tempFolder(), "large.log");
  writeFileSync(file, [...noise, two.key].join("\n"));
  const { stdout } = await run(`leaks check ${file}`);
  expect(stdout).toBe(`${one.keyId}\t1\tdisabled\n${two.keyId}\t20001\tdisabled\n`);
});
