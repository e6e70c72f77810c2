import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLatchkey, EMPTY_CHANGE } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { runInProcess } from "../testing/run-in-process.js";
import { tempFolder } from "../testing/temp-folder.js";

const hashOf = (secret: string) => createHash("sha256").update(secret).digest("hex");

/** A store's URL and a file of keys whose third row is invalid. */
function prepare() {
  const folder = tempFolder();
  const file = join(folder, "keys.csv");
  const rows = [
    `${hashOf("tide_1")},pier-7,5`,
    `${hashOf("tide_2")},pier-8,many`,
    `${hashOf("tide_3")},,`,
  ];
  writeFileSync(file, ["token_sha256,owner,remaining", ...rows].join("\n"));
  const map = join(folder, "map.json");
  writeFileSync(map, JSON.stringify({ columns: { token_sha256: "hash", owner: "externalId" } }));
  const store = `sqlite:${join(folder, "keys.db")}`;
  const args = ["import", file, "--from", "csv", "--map", map, "--api-name", "tiles"];
  return { folder, store, args: [...args, "--store", store] };
}

const withoutTimes = (text: string) => text.replace(/ in [\d.]+ s \(.*\)/, "");

describe("latchkey import and latchkey export", () => {
  test("a dry run reports what a run then does, and a second run finds everything in place", async () => {
    const { folder, store, args } = prepare();
    const dry = await runInProcess([...args, "--dry-run"]);
    expect(withoutTimes(dry.stdout)).toBe(`3 rows
  to write       2
  already there  0
  skipped        1
Skipped:
  remaining must be a whole number >= 0 (row 3)
To be created APIs: tiles
Dry run: nothing was written.
`);
    const report = join(folder, "report.jsonl");
    const { stdout, exitCode } = await runInProcess([...args, "--report", report]);
    expect(exitCode).toBe(1);
    expect(stdout).toContain("  written        2\n");
    expect(stdout).toContain("Created APIs: tiles\n");
    const lines = readFileSync(report, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      { row: 2, outcome: "written", keyId: expect.stringMatching(/^key_/), issues: [], notes: [] },
      {
        row: 3,
        outcome: "skipped",
        issues: [expect.objectContaining({ field: "remaining" })],
        notes: [],
      },
      { row: 4, outcome: "written", keyId: expect.stringMatching(/^key_/), issues: [], notes: [] },
    ]);
    const again = await runInProcess([...args, "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ written: 0, alreadyThere: 2, skipped: 1 });

    const latchkey = createLatchkey({ store: openStore(store) });
    expect(await latchkey.verifyKey({ key: "tide_1" })).toMatchObject({
      code: "VALID",
      ownerId: "pier-7",
      remaining: 4,
    });
    await latchkey.close();
  });

  test("columns may be separated by tabs: a shell passes \\t as two characters", async () => {
    const { folder, store } = prepare();
    const file = join(folder, "keys.tsv");
    writeFileSync(file, `hash\tname\n${hashOf("tide_4")}\tpier\n`);
    const args = ["import", file, "--from", "csv", "--api-name", "tiles", "--store", store];
    const { stdout } = await runInProcess([...args, "--delimiter", String.raw`\t`]);
    expect(stdout).toContain("  written        1\n");
  });

  test("- is not a file for the report: a pipe would get the summary instead of the rows", async () => {
    const { args } = prepare();
    const { exitCode, stderr } = await runInProcess([...args, "--report", "-"]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining("--report must name a file: -"),
    ]);
    expect(existsSync("-")).toBe(false);
  });

  test("an export can be imported into another store, and only its owner can read the file", async () => {
    const { folder, store, args } = prepare();
    await runInProcess(args);
    const file = join(folder, "keys.jsonl");
    const out = ["export", "--format", "jsonl", "--store", store, "--out", file];
    expect(await runInProcess(out)).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: "latchkey: 2 keys\n",
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await runInProcess(out)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`--out must name a file that can be used: there is already`),
    });
    const csv = await runInProcess(["export", "--format", "csv", "--store", store]);
    expect(csv.stdout.split("\n")).toHaveLength(4);
    const other = `sqlite:${join(folder, "other.db")}`;
    const copied = await runInProcess(["import", file, "--from", "jsonl", "--store", other]);
    expect(copied.stdout).toContain("  written        2\n");
    const latchkey = createLatchkey({ store: openStore(other) });
    expect(await latchkey.verifyKey({ key: "tide_3" })).toMatchObject({ code: "VALID" });
    await latchkey.close();
  });

  test.each([
    [["--from", "postman"], "--from must be better-auth or unkey or csv or jsonl"],
    [
      ["--from", "csv", "--api-id", "a", "--api-name", "tides"],
      "--api-id and --api-name cannot be used together",
    ],
    [["--from", "csv", "--map", "/nowhere.json"], "--map cannot be read"],
    [["--from", "csv", "--api-name", "t"], "--api-name must be a string of 3 to 256 characters"],
  ])("%j is refused", async (options, message) => {
    const { stderr, exitCode } = await runInProcess([
      "import",
      "keys.csv",
      ...options,
      "--store",
      "memory:",
    ]);
    expect([exitCode, stderr]).toEqual([2, `latchkey: ${message} (see --help)\n`]);
  });

  test("an export of an unknown API leaves no file", async () => {
    const { folder, store } = prepare();
    const out = join(folder, "none.csv");
    const args = ["--format", "csv", "--api-id", "api_none", "--out", out, "--store", store];
    expect(
      (await runInProcess(["apis", "create", "--name", "maps", "--store", store])).exitCode,
    ).toBe(0);
    expect((await runInProcess(["export", ...args])).exitCode).toBe(1);
    expect(existsSync(out)).toBe(false);
  });

  test("an export reports how many APIs are damaged, and that their keys were left out", async () => {
    const { store } = prepare();
    const opened = openStore(store);
    const latchkey = createLatchkey({ store: opened });
    const { apiId } = await latchkey.createApi({ name: "maps" });
    await latchkey.createKey({ apiId });
    const { found } = await opened.read("ws_default", [{ kind: "api", id: apiId }]);
    const puts = found.flatMap((loaded) =>
      loaded === null ? [] : [{ record: { ...loaded.record, body: { broken: true } } }],
    );
    await opened.commit("ws_default", { ...EMPTY_CHANGE, puts });
    await latchkey.close();
    expect(await runInProcess(["export", "--format", "jsonl", "--store", store])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "latchkey: 0 keys\nlatchkey: 1 APIs cannot be read: their keys were left out\n",
    });
  });

  test("a wrong map is named, and nothing is written", async () => {
    const { folder, store } = prepare();
    const map = join(folder, "wrong.json");
    writeFileSync(map, '{ "columns": { "a": "expire" } }');
    const wrong = await runInProcess([
      "import",
      "k.csv",
      "--from",
      "csv",
      "--map",
      map,
      "--store",
      store,
    ]);
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('--map: "columns.a" must name one of the fields apiId'),
    ]);
  });

  test("a map may begin with a byte order mark, like the keys", async () => {
    const { folder, args } = prepare();
    const map = join(folder, "map.json");
    writeFileSync(map, `\uFEFF${readFileSync(map, "utf8")}`);
    expect((await runInProcess(args)).stdout).toContain("  written        2\n");
  });

  test.each([
    [
      ["keys.csv", "--from", "csv"],
      "<place> must name a file that can be used: there is no keys.csv",
    ],
    [[".", "--from", "jsonl"], "<place> must name a file that can be used: a folder is ."],
    [["sqlite:no.db", "--from", "better-auth"], "there is no sqlite:no.db"],
    [
      ["k".repeat(300), "--from", "csv"],
      `<place> must name a file that can be used: there is a name that is too long in ${"k".repeat(300)}`,
    ],
    [
      ["-", "--from", "csv", "--report", "/nowhere/r"],
      "--report must name a file that can be used",
    ],
  ])("with an unusable file, %j names it and creates no store", async (args, message) => {
    const { folder, store } = prepare();
    const { exitCode, stderr } = await runInProcess(["import", ...args, "--store", store]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(join(folder, "keys.db"))).toBe(false);
  });

  test("the report replaces neither the keys, nor their map, nor the store, by whatever path", async () => {
    const { folder, store, args } = prepare();
    await runInProcess(args);
    symlinkSync(join(folder, "keys.csv"), join(folder, "link"));
    const other = `sqlite:${join(folder, "other.db")}`;
    const database = ["import", store, "--from", "better-auth", "--store", other];
    for (const [name, command] of [
      ["keys.csv", args],
      ["link", args],
      ["map.json", args],
      ["keys.db", args],
      ["keys.db", database],
    ] as const) {
      const report = join(folder, name);
      const before = readFileSync(report);
      const { exitCode, stderr } = await runInProcess([...command, "--report", report]);
      expect([exitCode, stderr]).toEqual([
        2,
        `latchkey: --report must name another file: this command also uses ${report} (see --help)\n`,
      ]);
      expect(readFileSync(report).equals(before)).toBe(true);
    }
  });

  test("a failure repeats no control characters of the file", async () => {
    const { folder, store } = prepare();
    const file = join(folder, "twice.csv");
    writeFileSync(file, "\u001b[2J,\u001b[2J\n");
    const { exitCode, stderr } = await runInProcess([
      "import",
      file,
      ...["--from", "csv", "--api-name", "tiles", "--store", store],
    ]);
    expect([exitCode, stderr]).toEqual([1, 'latchkey: the column "\\u001b[2J" appears twice\n']);
  });

  test("neither a dry run nor an unknown --api-id creates a store", async () => {
    const { folder, store, args } = prepare();
    expect((await runInProcess([...args, "--dry-run"])).stdout).toContain("  to write       2\n");
    const byId = ["import", args[1] as string, "--from", "csv", "--api-id", "api_none"];
    expect((await runInProcess([...byId, "--store", store])).exitCode).toBe(2);
    expect(existsSync(join(folder, "keys.db"))).toBe(false);
  });
});
