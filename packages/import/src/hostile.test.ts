import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSource, type SourceKind } from "./open-source.js";
import type { ImportRow } from "./row.js";
import { betterAuthRow } from "./sources/better-auth.js";
import { hashOf, inPieces, NOON, openLatchkey, runImport } from "./testing/imports.js";

const HASH = hashOf("tide_1");
/** Twice the bound on a line. A parser with quadratic time would take an hour for this. */
const SIZE = 2_000_000;
const PIECE = 65_536;

/** A text repeated to this size, in pieces as large as those of a file. */
async function* repeated(text: string, size: number): AsyncGenerator<string> {
  const times = Math.ceil(PIECE / text.length);
  const piece = text.repeat(times);
  for (let left = Math.ceil(size / text.length); left > 0; left -= times)
    yield left >= times ? piece : text.repeat(left);
}

/** A beginning, a repeated text, and an end. */
async function* textOf(begin: string, text: string, end = "", size = SIZE) {
  yield begin;
  yield* repeated(text, size);
  yield end;
}

const CSV = "hash,name\n";
const LINE = `${JSON.stringify({ hash: HASH, name: "good" })}\n`;
const UNKEY = `${JSON.stringify({ keys: [{ hash: HASH }] })}\n`;

/** A source, a title, the beginning of a text, the repeated part, the end, and the issue of the last bad row. */
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

/** Ordinary text, to compare times. */
const GOOD: Readonly<Record<string, readonly [begin: string, text: string]>> = {
  csv: [CSV, `${HASH},good\n`],
  jsonl: ["", LINE],
  unkey: ["", UNKEY],
};

/** Reads a source, and returns the processor time in ms, the last bad row, and the number of good rows. */
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

/** How many times longer a text may take than good rows of the same size, and an allowance for collecting garbage, in ms. */
const [FACTOR, GARBAGE_MS] = [8, 1_000];
const goodMs = new Map<SourceKind, number>();

/** Processor time for good rows of this size, in ms, estimated from a tenth of them. */
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

describe("hostile text", () => {
  test.each([
    ["csv", `${CSV}${HASH},"`, "x\n"],
    ["csv", CSV, ","],
    ["jsonl", "", "x"],
    ["unkey", "[", "[],"],
  ] as const)(
    "is not kept in memory, with %s: %j, then %j endlessly",
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
    "in %s, %s is refused by row, in about the time of good rows",
    async (kind, _name, begin, text, end, issue) => {
      const most = (await msOfGood(kind)) * FACTOR + GARBAGE_MS;
      const { ms, bad, good } = await read(kind, textOf(begin, text, end));
      // The repeated part never becomes a row: only the row at the end of most texts is good.
      expect(good).toBe(end === "" || kind === "csv" ? 0 : 1);
      expect(bad?.issues[0]?.message).toContain(issue);
      expect(bad?.number).toBeGreaterThan(0);
      expect(ms).toBeLessThan(most);
    },
  );

  test("is refused as the row of names of a CSV file", async () => {
    await expect(read("csv", textOf("", "x"))).rejects.toThrow("the row of names is longer than");
  });

  test("in a row of a custom source or a database stops no other row", async () => {
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
  "a hash value with a field %s that is not a function is refused in its row",
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

/** Any JSON value, and objects with members that are special in JavaScript. */
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

test("rows of any shape are written or skipped with a reason, and a good row after them is written", async () => {
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
