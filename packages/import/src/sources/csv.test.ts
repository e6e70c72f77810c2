import { describe, expect, test } from "vitest";
import type { KeyMap } from "../key-map.js";
import { openSource } from "../open-source.js";
import type { ImportRow } from "../row.js";
import { hashOf, inPieces } from "../testing/imports.js";

async function read(text: string, map?: KeyMap, delimiter?: string) {
  const source = openSource("csv", inPieces(text, Math.ceil(text.length / 50)), { map, delimiter });
  const rows: ImportRow[] = [];
  for await (const row of source.rows) rows.push(row);
  return { rows, ignored: [...source.ignoredColumns] };
}

const HASH = hashOf("tide_1");
const READ = { value: HASH, variant: "sha256_hex" };

describe("a file of comma-separated values", () => {
  test("has columns named like fields, with a dot for nested ones; empty cells are ignored", async () => {
    const { rows, ignored } = await read(
      `\uFEFFhash,name,remaining,refill.interval,refill.amount,meta,roles,enabled,id,colour\r
${HASH},"north ""pier"",
second line",5,daily,10,"{""berth"":4}","[""a"",""b""]",false,key_1,blue\r
\r
${HASH},,,,,,,,,\r
`,
    );
    expect(rows).toEqual([
      {
        number: 2,
        id: "key_1",
        key: {
          hash: READ,
          name: 'north "pier",\nsecond line',
          remaining: 5,
          refill: { interval: "daily", amount: 10 },
          meta: { berth: 4 },
          roles: ["a", "b"],
          enabled: false,
        },
        issues: [],
        notes: [],
      },
      { number: 3, key: { hash: READ }, issues: [], notes: [] },
    ]);
    expect(ignored).toEqual(["colour"]);
  });

  test("can be mapped: columns to fields, units of instants, values for all rows", async () => {
    const map = {
      columns: {
        token_sha: "hash.value",
        owner: "externalId",
        valid_until: { field: "expires", unit: "s" },
        scopes: "permissions",
        name: null,
      },
      values: { "hash.variant": "sha256_hex", environment: "live", "refill.interval": "daily" },
    } as const;
    const { rows, ignored } = await read(
      `token_sha;owner;valid_until;scopes;name\n${HASH};pier-7;1800000000;a,b c|d;x\n`,
      map,
      ";",
    );
    expect(rows[0]?.key).toEqual({
      hash: READ,
      externalId: "pier-7",
      expires: 1_800_000_000_000,
      permissions: ["a", "b", "c", "d"],
      environment: "live",
      refill: { interval: "daily" },
    });
    expect(ignored).toEqual([]);
  });

  test("a bad row is an issue with its number, and the rows after it are read", async () => {
    const { rows } = await read(
      `hash,name\n${HASH},a,b\n${HASH},"a"b\n${HASH},c\n${HASH}\n${HASH},"d\n${HASH},e\n`,
    );
    expect(rows.map(({ number, key, issues }) => [number, key.name ?? issues[0]?.message])).toEqual(
      [
        [2, "has 3 columns instead of 2"],
        [3, '"a"b'],
        [4, "c"],
        [5, "has 1 columns instead of 2"],
        [6, "has a quote that is not closed: it and all rows after it were not read"],
      ],
    );
  });

  const TOO_LONG = "is longer than 1000000 bytes: it and all rows after it were not read";

  test.each([
    ["a quote that is not closed", `${HASH},"a\n${`${HASH},b\n`.repeat(31_000)}${HASH},c\n`],
    ["a cell", `${HASH},"${`${HASH},evil\n`.repeat(31_000)}"\n${HASH},c\n`],
    ["a cell without quotes", `${HASH},${"a".repeat(1_100_000)}\n${HASH},c\n`],
    ["cells without anything in them", `${HASH}${",".repeat(2_100_000)}\n${HASH},c\n`],
  ])("ends where %s is too long: nothing in or after it becomes a row", async (_, text) => {
    const { rows } = await read(`hash,name\n${HASH},good\n${text}`);
    expect(rows.map(({ number, endsSource }) => [number, endsSource])).toEqual([
      [2, undefined],
      [3, true],
    ]);
    expect([rows[0]?.key.name, rows[1]?.issues[0]?.message]).toEqual(["good", TOO_LONG]);
  });

  test("is read completely if it comes in one piece, with any characters", async () => {
    const text = `hash,name\n${`${HASH},😀é\n`.repeat(10_000)}`;
    const rows: ImportRow[] = [];
    async function* atOnce() {
      yield text;
    }
    for await (const row of openSource("csv", atOnce()).rows) rows.push(row);
    expect(rows).toHaveLength(10_000);
    expect(new Set(rows.map(({ key }) => key.name))).toEqual(new Set(["😀é"]));
  });

  test("needs a row of unique names", async () => {
    await expect(read("")).rejects.toThrow("the file is empty");
    await expect(read("hash,name,name\n")).rejects.toThrow('the column "name" appears twice');
  });
});

test("a wrong map is refused before anything is read", () => {
  const refused = (map: unknown) => () => openSource("csv", inPieces(""), { map: map as KeyMap });
  expect(refused([])).toThrow("the map must be an object");
  expect(refused({ column: {} })).toThrow(
    '"column" is not known: a map has only columns and values',
  );
  expect(refused({ columns: { a: "expire" } })).toThrow('"columns.a" must name one of the fields');
  expect(refused({ columns: { a: { unit: "s" } } })).toThrow('"columns.a" needs a field');
  expect(refused({ columns: { a: { field: "expires", unit: "h" } } })).toThrow("not ms or s");
  expect(refused({ columns: { a: { field: "expires", form: "s" } } })).toThrow('has "form"');
  expect(refused({ values: { expire: 1 } })).toThrow('"values.expire" must name one of the fields');
});
