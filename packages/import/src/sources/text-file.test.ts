import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSource, type SourceKind } from "../open-source.js";
import type { ImportRow } from "../row.js";
import { hashOf } from "../testing/imports.js";

/** The rows of a file: what each says about its owner and why it cannot be read. */
async function readFile(kind: SourceKind, parts: readonly (string | Uint8Array)[]) {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "keys");
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part as string))));
  const rows: ImportRow[] = [];
  for await (const row of openSource(kind, path).rows) rows.push(row);
  return rows.map(({ number, key, issues, endsSource = false }) => ({
    number,
    owner: key.externalId,
    messages: issues.map(({ message }) => message),
    endsSource,
  }));
}

const HASH = hashOf("tide_1");
/** The letter ü in ISO 8859-1. */
const LATIN = Uint8Array.of(0xfc);
const good = (number: number, owner: string) => ({
  number,
  owner,
  messages: [],
  endsSource: false,
});
const notUtf8 = (number: number) => ({
  number,
  owner: undefined,
  messages: ["is not UTF-8: it and all rows after it were not read"],
  endsSource: true,
});

describe("a file that is not UTF-8", () => {
  test.each(["\n", "\r\n"])(
    "is read up to the first such row of CSV (line break %j)",
    async (br) => {
      const rows = (owner: string) => `${HASH},${owner}${br}`;
      const read = await readFile("csv", [
        `hash,externalId${br}${rows("süd")}${HASH},s`,
        LATIN,
        `d${br}${rows("nord")}`,
      ]);
      expect(read).toEqual([good(2, "süd"), notUtf8(3)]);
    },
  );

  test("is read up to the first such line of JSON, in whatever piece of the file it is", async () => {
    const line = (owner: string) => `${JSON.stringify({ hash: HASH, externalId: owner })}\n`;
    const many = Array.from({ length: 3_000 }, (_, at) => line(`süd${at}`));
    const read = await readFile("jsonl", [
      many.join(""),
      `{"externalId":"s`,
      LATIN,
      `d"}\n`,
      line("a"),
    ]);
    expect(read).toHaveLength(3_001);
    expect(read.slice(-2)).toEqual([good(3_000, "süd2999"), notUtf8(3_001)]);
  });

  test("is read up to a character that is cut off at its end", async () => {
    const cut = Buffer.from("ü").subarray(0, 1);
    const read = await readFile("csv", [`hash,externalId\n${HASH},a\n${HASH},s`, cut]);
    expect(read).toEqual([good(2, "a"), notUtf8(3)]);
  });

  test.each([
    ["in UTF-16", Buffer.from(`\uFEFFhash\n${HASH}\n`, "utf16le")],
    ["compressed", Uint8Array.of(0x1f, 0x8b, 8, 0)],
    ["with such names of columns", Buffer.concat([LATIN, Buffer.from(`,hash\n,${HASH}\n`)])],
  ])("is refused if it is %s", async (_, bytes) => {
    await expect(readFile("csv", [bytes])).rejects.toThrow("the file is not text in UTF-8");
  });
});

test("a line that is too long for a row does not count as one that is not UTF-8", async () => {
  const read = await readFile("jsonl", [
    "ü".repeat(3_000_001),
    `\n${JSON.stringify({ hash: HASH, externalId: "a" })}\n`,
  ]);
  expect(read.map(({ messages }) => messages)).toEqual([["is longer than 1000000 characters"], []]);
});
