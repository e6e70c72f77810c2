import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { wrapped } from "../../test/wrapped-store.js";
import { openStore } from "../open-store.js";
import { runInProcess } from "../testing/run-in-process.js";
import { tempFolder } from "../testing/temp-folder.js";

/** A SQLite store in a new folder, with a key that has two of three uses left. */
async function aStore() {
  const folder = tempFolder();
  const url = (name: string) => `sqlite:${join(folder, name)}`;
  const latchkey = createLatchkey({ store: openStore(url("keys.db")) });
  const { apiId } = await latchkey.createApi({ name: "tide-tables" });
  const { key } = await latchkey.createKey({ apiId, remaining: 3 });
  await latchkey.verifyKey({ key });
  await latchkey.close();
  return { folder, from: url("keys.db"), to: url("new.db"), key };
}

async function verify(url: string, key: string) {
  const latchkey = createLatchkey({ store: openStore(url) });
  try {
    return await latchkey.verifyKey({ key });
  } finally {
    await latchkey.close();
  }
}

describe("latchkey copy", () => {
  test("copies everything, and prints the counts", async () => {
    const { from, to, key } = await aStore();
    const { exitCode, stdout } = await runInProcess(["copy", "--from", from, "--to", to, "--json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ workspaces: ["ws_default"], counts: { key: 1 } });
    expect(await verify(to, key)).toMatchObject({ valid: true, remaining: 1 });
  });

  test("after --live the source answers that its keys have moved", async () => {
    const { from, to, key } = await aStore();
    const { stdout } = await runInProcess(["copy", "--from", from, "--to", to, "--live"]);
    expect(stdout).toMatch(/^key\t1$/m);
    await expect(verify(from, key)).rejects.toMatchObject({ reason: "moved" });
    expect(await verify(to, key)).toMatchObject({ valid: true });
    const complete = await runInProcess(["copy", "--from", from, "--to", to, "--live"]);
    expect(complete.exitCode).toBe(0);
    expect(complete.stderr).toContain("the move is complete already, and the target serves");
    const again = await runInProcess(["copy", "--from", from, "--to", to, "--take-back"]);
    expect(again).toMatchObject({ exitCode: 1, stdout: "" });
    expect(again.stderr).toContain("cannot be taken back");
    const back = ["copy", "--from", from, "--take-back", "--force"];
    expect((await runInProcess([...back, "--to", to])).exitCode).toBe(0);
    await expect(verify(to, key)).rejects.toMatchObject({ reason: "incomplete" });
    expect(await verify(from, key)).toMatchObject({ valid: true });
  });

  test("and backup say which workspace cannot be read, why, and what to run", async () => {
    const { from, to } = await aStore();
    const store = openStore(from);
    const killed = createLatchkey({
      store: wrapped(store, { forget: () => Promise.reject(new Error("killed")) }),
    });
    const half = "ws_half";
    await killed.workspace(half).createApi({ name: "tides" });
    const deletion = { workspaceId: half, confirm: half };
    await expect(killed.deleteWorkspace(deletion)).rejects.toThrow("killed");
    await store.close();
    const refused = (why: string) => ({
      exitCode: 1,
      stdout: "",
      stderr: `latchkey: the source cannot be read: ${why}\n`,
    });
    const backup = ["backup", "--out", `${to.slice("sqlite:".length)}.lkb`, "--store"];
    const isHalfDeleted = refused(
      `its workspace ${half} is half deleted: let that finish, or run workspace delete <id> --confirm <id> again`,
    );
    expect(await runInProcess(["copy", "--from", from, "--to", to])).toEqual(isHalfDeleted);
    expect(await runInProcess([...backup, from])).toEqual(isHalfDeleted);
    await runInProcess(["workspace", "delete", half, "--confirm", half, "--store", from]);
    await runInProcess(["copy", "--from", from, "--to", to, "--live"]);
    expect(await runInProcess([...backup, from])).toEqual(
      refused("the keys of its workspace ws_default have moved to another store"),
    );
  });

  test("only --take-back --force needs no --to", async () => {
    const { from } = await aStore();
    const back = await runInProcess(["copy", "--from", from, "--take-back", "--force"]);
    expect(back.stdout).toBe("the source is in charge\n");
    for (const [args, complaint] of [
      [["--take-back"], "--to is required"],
      [["--to", "sqlite:x.db", "--force"], "--force needs --take-back"],
    ] as const) {
      const { exitCode, stderr } = await runInProcess(["copy", "--from", from, ...args]);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(complaint)]);
    }
  });

  test("--take-back says who is in charge", async () => {
    const { from, to, key } = await aStore();
    const { stdout } = await runInProcess(["copy", "--from", from, "--to", to, "--take-back"]);
    expect(stdout).toBe("the source is in charge\n");
    expect(await verify(from, key)).toMatchObject({ valid: true });
  });

  test("accepts a target that was started from another source only with --start-over", async () => {
    const [one, other] = [await aStore(), await aStore()];
    const { to } = one;
    await runInProcess(["copy", "--from", one.from, "--to", to, "--live"]);
    const back = ["copy", "--from", one.from, "--to", to, "--take-back"];
    expect((await runInProcess([...back, "--force"])).exitCode).toBe(0);
    const copy = ["copy", "--from", other.from, "--to", to];
    const refused = await runInProcess(copy);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining("--start-over"),
    ]);
    expect((await runInProcess([...copy, "--start-over"])).exitCode).toBe(0);
    expect(await verify(to, other.key)).toMatchObject({ valid: true, remaining: 1 });
    expect(await verify(to, one.key)).toMatchObject({ code: "NOT_FOUND" });
    expect((await runInProcess([...back, "--start-over"])).exitCode).toBe(2);
  });

  test("a missing store is a usage error that names it", async () => {
    const folder = tempFolder();
    const path = join(folder, "nowhere.db");
    const url = `sqlite:${path}`;
    for (const args of [
      ["copy", "--from", url, "--to", `sqlite:${join(folder, "new.db")}`],
      ["backup", "--store", url, "--out", join(folder, "keys.lkb")],
      ["export", "--store", url, "--format", "csv"],
    ]) {
      const { exitCode, stderr } = await runInProcess(args);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`there is no file ${path}`)]);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  test("names the wrong option", async () => {
    const { from } = await aStore();
    const { exitCode, stderr } = await runInProcess(["copy", "--from", from, "--to", "memory:"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--to must outlive this program");
  });
});

describe("latchkey backup and restore", () => {
  test("restore everything", async () => {
    const { folder, from, to, key } = await aStore();
    const file = join(folder, "keys.lkb");
    expect(await runInProcess(["backup", "--store", from, "--out", file])).toMatchObject({
      exitCode: 0,
    });
    expect(await runInProcess(["restore", "--store", to, "--in", file])).toMatchObject({
      exitCode: 0,
    });
    expect(await verify(to, key)).toMatchObject({ valid: true, remaining: 1 });
  });

  test("restore creates no store for a damaged file", async () => {
    const { folder, to } = await aStore();
    const file = join(folder, "damaged.lkb");
    writeFileSync(file, "something else");
    const { exitCode, stderr } = await runInProcess(["restore", "--store", to, "--in", file]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("the backup cannot be used");
    expect(existsSync(to.replace("sqlite:", ""))).toBe(false);
  });

  test("restore names an unusable file, and creates no store", async () => {
    const { folder, to } = await aStore();
    const restore = ["restore", "--store", to, "--in"];
    const nowhere = join(folder, "nowhere.lkb");
    for (const [args, complaint] of [
      [[nowhere], `--in must name a file that can be used: there is no ${nowhere}`],
      [[folder], "a folder is"],
      [[join(folder, "keys.db"), "--identity", nowhere], "--identity must name a file"],
    ] as const) {
      const { exitCode, stderr } = await runInProcess([...restore, ...args]);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(complaint)]);
    }
    expect(existsSync(to.replace("sqlite:", ""))).toBe(false);
  });

  test("restore says that it needs a file if it gets a pipe, and not that the backup is damaged", async () => {
    const { folder, to } = await aStore();
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const { exitCode, stderr } = await runInProcess(["restore", "--store", to, "--in", pipe]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining("--in must name a file, not a"),
    ]);
    expect(existsSync(to.replace("sqlite:", ""))).toBe(false);
  });

  test("backup refuses a missing folder by the option", async () => {
    const { folder, from } = await aStore();
    const out = join(folder, "nowhere", "keys.lkb");
    const { exitCode, stderr } = await runInProcess(["backup", "--store", from, "--out", out]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--out must name a file")]);
  });

  test("neither backup nor restore accepts a name that is too long, or links in a circle", async () => {
    const { folder, from, to } = await aStore();
    const long = join(folder, "k".repeat(300));
    const circle = join(folder, "circle");
    symlinkSync(circle, circle);
    for (const [args, problem] of [
      [["backup", "--store", from, "--out", long], `--out.* too long in ${long}`],
      [["restore", "--store", to, "--in", long], `--in.* too long in ${long}`],
      [["restore", "--store", to, "--in", circle], `--in.* lead in a circle at ${circle}`],
    ] as const) {
      const { exitCode, stderr } = await runInProcess(args);
      expect([exitCode, stderr]).toEqual([2, expect.stringMatching(problem)]);
    }
    expect(readdirSync(folder).sort()).toEqual(["circle", "keys.db"]);
  });

  /** A terminal or a pipe that enters these lines, and the prompts that were printed. */
  function typing(asks: boolean, ...lines: readonly string[]) {
    const prompts: string[] = [];
    const readInput = async (prompt: string) => {
      prompts.push(prompt);
      return `${lines[prompts.length - 1] ?? ""}\n`;
    };
    return { prompts, parts: { asks, readInput } };
  }

  test.each([
    [false, ["eleven char"], "the passphrase must have 12 characters or more"],
    [false, [""], "the passphrase must have 12 characters or more"],
    [true, ["twelve chars", "twelve char"], "the passphrases do not match"],
  ] as const)("a short or mistyped passphrase is refused: %s %j", async (asks, lines, message) => {
    const { folder, from } = await aStore();
    const file = join(folder, "keys.lkb");
    const args = ["backup", "--store", from, "--out", file, "--passphrase"];
    const { exitCode, stderr } = await runInProcess(args, {}, typing(asks, ...lines).parts);
    expect([exitCode, existsSync(file)]).toEqual([2, false]);
    expect(stderr).toBe(`latchkey: ${message} (see --help)\n`);
  });

  test("a file that exists is refused by the option, before a passphrase is asked for", async () => {
    const { folder, from } = await aStore();
    const file = join(folder, "keys.lkb");
    writeFileSync(file, "of somebody else");
    const args = ["backup", "--store", from, "--out", file, "--passphrase"];
    const { parts, prompts } = typing(true, "twelve chars", "twelve chars");
    expect(await runInProcess(args, {}, parts)).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `latchkey: --out must name a file that can be used: there is already ${file} (see --help)\n`,
    });
    expect(prompts).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe("of somebody else");
  });

  test("- is not a file: a pipe would get the counts, and take them for the backup", async () => {
    const { from } = await aStore();
    for (const args of [
      ["backup", "--store", from, "--out", "-"],
      ["export", "--store", from, "--format", "jsonl", "--out", "-"],
    ])
      expect(await runInProcess(args)).toEqual({
        exitCode: 2,
        stdout: "",
        stderr:
          "latchkey: --out must name a file: - is not stdout here, and ./- is a file (see --help)\n",
      });
    expect(existsSync("-")).toBe(false);
  });

  test("an invalid recipient or identity ends with 2, and leaves no file behind", async () => {
    const { folder, from, to } = await aStore();
    const file = join(folder, "keys.lkb");
    const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
    const backup = ["backup", "--store", from, "--out", file, "--recipients"];
    for (const bad of ["age1typo", "somebody", "ssh-ed25519 AAAA"])
      expect(await runInProcess([...backup, `${recipient},${bad}`])).toEqual({
        exitCode: 2,
        stdout: "",
        stderr: "latchkey: --recipients (item 2) must be an age recipient: age1… (see --help)\n",
      });
    expect(readdirSync(folder).filter((name) => name.includes("lkb"))).toEqual([]);
    expect((await runInProcess([...backup, recipient])).exitCode).toBe(0);
    const identity = join(folder, "identity.txt");
    writeFileSync(identity, "AGE-SECRET-KEY-1TYPO\n");
    const restore = ["restore", "--store", to, "--in", file, "--identity", identity];
    expect(await runInProcess(restore)).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "latchkey: --identity: the key in the file must be an age identity: AGE-SECRET-KEY-1… (see --help)\n",
    });
  });
});
