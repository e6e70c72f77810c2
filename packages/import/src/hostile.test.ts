import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSource, type SourceKind } from "./open-source.js";
import type { ImportRow } from "./row.js";
import { betterAuthRow } from "./sources/better-auth.js";
import { hashOf, inPieces, NOON, openLatchkey, runImport } from "./testing/imports.js";

const HASH = hashOf("tide_1");
/** Twice the bound on a line. What takes a time that grows with the square of the size takes an hour of this. */
const SIZE = 2_000_000;
const PIECE = 65_536;

/** A text so often that it has this size, in pieces of a file's size. */
async function* repeated(text: string, size: number): AsyncGenerator<string> {
  const times = Math.ceil(PIECE / text.length);
  const piece = text.repeat(times);
  for (let left = Math.ceil(size / text.length); left > 0; left -= times)
    yield left >= times ? piece : text.repeat(left);
}

/** A beginning, a text again and again, and an end. */
async function* textOf(begin: string, text: string, end = "", size = SIZE) {
  yield begin;
  yield* repeated(text, size);
  yield end;
}

const CSV = "hash,name\n";
const LINE = `${JSON.stringify({ hash: HASH, name: "good" })}\n`;
const UNKEY = `${JSON.stringify({ keys: [{ hash: HASH }] })}\n`;

/** A source, the beginning of a text, what is repeated, the end, and what the last bad row is told. */
const HOSTILE: readonly (readonly [SourceKind, string, string, string, string, string])[] = [
  ["csv", "a quoted cell", `${CSV}${HASH},"`, `${HASH},evil\n`, '"\n', "longer than 1000000"],
  ["csv", "a cell", `${CSV}${HASH},`, "x", "\n", "longer than 1000000"],
  ["csv", "a row of delimiters", CSV, ",", "\n", "longer than 1000000"],
  ["csv", "a row of quotes", CSV, '"', "\n", "longer than 1000000"],
  ["csv", "a row of a quote and a comma", CSV, '",', "\n", "longer than 1000000"],
  ["csv", "nesting in cells", "hash,meta\n", `${HASH},${"[".repeat(60_000)}\n`, "", "must be JSON"],
  ["jsonl", "a line", "", "x", `\n${LINE}`, "longer than 1000000"],
  ["jsonl", "nesting", "", "[", `\n${LINE}`, "longer than 1000000"],
  [
    "jsonl",
    "nesting of lines",
    "",
    `${"[".repeat(400_000)}${"]".repeat(400_000)}\n`,
    LINE,
    "32 levels",
  ],
  [
    "jsonl",
    "nesting in fields",
    "",
    `{"hash":${'{"value":'.repeat(60_000)}1${"}".repeat(60_001)}\n`,
    LINE,
    "32 levels",
  ],
  [
    "unkey",
    "nesting of answers",
    "",
    `${"[".repeat(400_000)}${"]".repeat(400_000)}\n`,
    UNKEY,
    "32 levels",
  ],
];

/** Text of the same size that holds nothing odd. */
const GOOD: Readonly<Record<string, readonly [begin: string, text: string]>> = {
  csv: [CSV, `${HASH},good\n`],
  jsonl: ["", LINE],
  unkey: ["", UNKEY],
};

/** How much of a processor it takes to read a source, in ms, the last of its rows that is bad, and how many are good. */
async function read(kind: SourceKind, pieces: AsyncIterable<string>) {
  const before = process.cpuUsage();
  let bad: ImportRow | undefined;
  let good = 0;
  for await (const row of openSource(kind, pieces).rows) {
    if (row.issues.length > 0) bad = row;
    else good += 1;
  }
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1_000, bad, good };
}

/** How many times longer a text may take than good rows of its size would, and how long the garbage of earlier tests may take, in ms. */
const [FACTOR, GARBAGE_MS] = [8, 1_000];
const goodMs = new Map<SourceKind, number>();

/** What good rows of the size take, by what a tenth of them takes. */
async function msOfGood(kind: SourceKind): Promise<number> {
  const [begin, text] = GOOD[kind] as readonly [string, string];
  const ms = goodMs.get(kind) ?? (await read(kind, textOf(begin, text, "", SIZE / 10))).ms * 10;
  goodMs.set(kind, ms);
  return ms;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function bytesHeld(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe("text that no export ever has", () => {
  test.each([
    ["csv", `${CSV}${HASH},"`, "x\n"],
    ["csv", CSV, ","],
    ["jsonl", "", "x"],
    ["unkey", "[", "[],"],
  ] as const)(
    "are read from %s without being kept: %j, then %j for good",
    async (kind, begin, text) => {
      const before = bytesHeld();
      let most = 0;
      async function* watched() {
        let pieces = 0;
        for await (const piece of textOf(begin, text, "", 40_000_000)) {
          yield piece;
          pieces += 1;
          if (pieces % 150 === 0) most = Math.max(most, bytesHeld() - before);
        }
      }
      await read(kind, watched());
      most = Math.max(most, bytesHeld() - before);
      expect(most).toBeLessThan(20_000_000);
    },
  );

  test.each(HOSTILE)(
    "in %s, %s: named by row, in the time of good rows",
    async (kind, _name, begin, text, end, issue) => {
      const most = (await msOfGood(kind)) * FACTOR + GARBAGE_MS;
      const { ms, bad, good } = await read(kind, textOf(begin, text, end));
      // Nothing that is repeated becomes a row: the one at the end of most texts is all that is good.
      expect(good).toBe(end === "" || kind === "csv" ? 0 : 1);
      expect(bad?.issues[0]?.message).toContain(issue);
      expect(bad?.number).toBeGreaterThan(0);
      expect(ms).toBeLessThan(most);
    },
  );

  test("as the row of names of a CSV file is refused", async () => {
    await expect(read("csv", textOf("", "x"))).rejects.toThrow("the row of names is longer than");
  });

  test("in a row of an own source or of a database stops no other row", async () => {
    const long = "x".repeat(SIZE);
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const odd = {
      apiId: long,
      name: long,
      meta: deep,
      permissions: [long],
      hash: deep,
      externalId: long,
    };
    const whole = { hash: { value: HASH, variant: "sha256_hex" } };
    const other = { hash: { value: hashOf("other"), variant: "sha256_hex" } };
    const keys = Object.entries(odd).map(([field, value]) => ({ ...whole, [field]: value }));
    const table = [
      "name",
      "metadata",
      "permissions",
      "expiresAt",
      "remaining",
      "prefix",
      "configId",
    ].flatMap((column) =>
      [long, deep, JSON.stringify("[".repeat(SIZE / 10))].map((value) => ({
        key: hashOf("a", "base64url"),
        [column]: value,
      })),
    );
    async function* rows(): AsyncGenerator<ImportRow> {
      for (const [at, key] of [...keys, other].entries())
        yield { number: at + 1, key, issues: [], notes: [] };
      for (const [at, columns] of table.entries()) yield betterAuthRow(100 + at, columns, NOON);
    }
    const into = openLatchkey();
    const from = { rows: rows(), ignoredColumns: new Set<string>() };
    const { report, rows: reports } = await runImport({ from, into, apiName: "tides" });
    expect(report.rows).toBe(keys.length + 1 + table.length);
    expect(reports[keys.length]?.outcome).toBe("written");
    expect(JSON.stringify(report).length).toBeLessThan(20_000);
  });
});

test.each(["toString", "valueOf", "toJSON", "length"])(
  "a hash whose value is an object with a field %s that is no function is refused in its row",
  async (member) => {
    const lines = [{ hash: { value: { [member]: 1 } } }, { hash: HASH, name: "good" }];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const from = openSource("jsonl", inPieces(text));
    const { rows } = await runImport({ from, into: openLatchkey(), apiName: "tides" });
    expect(rows.map(({ row, outcome }) => [row, outcome])).toEqual([
      [1, "skipped"],
      [2, "written"],
    ]);
    expect(rows[0]?.issues[0]?.field).toMatch(/^hash/);
  },
);

/** Anything that JSON can say, and objects whose members mean something to JavaScript. */
const anything = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(
    fc.constantFrom("toString", "valueOf", "value", "length", "pepper", "__proto__", "then"),
    fc.jsonValue(),
    { noNullPrototype: true },
  ),
);
const FIELDS = [
  "apiId",
  "api",
  "hash",
  "plaintext",
  "start",
  "name",
  "externalId",
  "identity",
  "meta",
  "roles",
  "permissions",
  "createdAt",
  "expires",
  "enabled",
  "recoverable",
  "remaining",
  "refill",
  "ratelimit",
  "ratelimits",
  "usesFrom",
  "environment",
  "id",
  "key",
  "keys",
  "result",
  "data",
  "error",
];
const COLUMNS = [
  "key",
  "start",
  "prefix",
  "name",
  "referenceId",
  "configId",
  "metadata",
  "permissions",
  "createdAt",
  "expiresAt",
  "enabled",
  "remaining",
  "refillAmount",
  "refillInterval",
  "lastRefillAt",
  "rateLimitMax",
  "rateLimitTimeWindow",
  "rateLimitEnabled",
  "id",
];

const rowOf = (fields: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...fields), anything, { maxKeys: 6, noNullPrototype: true });

test("rows are data of any shape: each is written or skipped with a reason, and the good one behind them is written", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rowOf(FIELDS), { maxLength: 4 }),
      fc.array(rowOf(COLUMNS), { maxLength: 4 }),
      fc.constantFrom("jsonl", "unkey"),
      async (lines, table, kind) => {
        const good = { hash: HASH, name: "good" };
        const text = [...lines, good].map((line) => `${JSON.stringify(line)}\n`).join("");
        const into = openLatchkey();
        const first = openSource(kind as SourceKind, inPieces(text));
        const { rows, report } = await runImport({ from: first, into, apiName: "tides" });
        expect(report.rows).toBe(rows.length);
        expect(rows.at(-1)).toMatchObject({ outcome: expect.stringMatching(/written|already/) });
        for (const { outcome, issues } of rows)
          expect(issues.length > 0).toBe(outcome === "skipped");
        async function* tableRows() {
          for (const [at, columns] of table.entries()) yield betterAuthRow(at, columns, NOON);
        }
        const second = await runImport({
          from: { rows: tableRows(), ignoredColumns: new Set() },
          into,
          apiName: "tides",
        });
        expect(second.report.rows).toBe(table.length);
      },
    ),
    { numRuns: 60 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1") },
  );
});
