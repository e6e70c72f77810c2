import { expect, test } from "vitest";
import { openSource } from "../open-source.js";
import type { ImportRow } from "../row.js";
import { hashOf, inPieces } from "../testing/imports.js";

async function read(text: string, map = {}, size = 997) {
  const source = openSource("jsonl", inPieces(text, size), { map });
  const rows: ImportRow[] = [];
  for await (const row of source.rows) rows.push(row);
  return { rows, ignored: [...source.ignoredColumns] };
}

test("paths of a map lead into objects, and mapped columns are not listed as ignored", async () => {
  const line = {
    token: { sha: hashOf("tide_1") },
    owner: { id: "pier-7", name: "P" },
    "a.b": "live",
    c: 1,
  };
  const { rows, ignored } = await read(JSON.stringify(line), {
    columns: {
      "token.sha": "hash",
      "owner.id": "externalId",
      "a.b": "environment",
      "owner.none": "name",
    },
  });
  expect(rows[0]).toMatchObject({
    key: {
      hash: { value: hashOf("tide_1"), variant: "sha256_hex" },
      externalId: "pier-7",
      environment: "live",
    },
    issues: [],
  });
  expect(ignored).toEqual(["c"]);
});

test("lines may end in any line break, may be empty, and the first may have a byte order mark", async () => {
  const line = JSON.stringify({ hash: hashOf("tide_1") });
  const { rows } = await read(`\uFEFF${line}\r\n\r\n${line}\n\n${line}`);
  expect(rows.map(({ number, issues }) => [number, issues.length])).toEqual([
    [1, 0],
    [3, 0],
    [5, 0],
  ]);
});

test("a line that is too long is an issue, and the next one is read", async () => {
  const line = JSON.stringify({ hash: hashOf("tide_1") });
  const { rows } = await read(`${"x".repeat(3_000_000)}\n${line}\n`, {}, 65_536);
  expect(rows.map(({ issues }) => issues[0]?.message)).toEqual([
    "is longer than 1000000 characters",
    undefined,
  ]);
});

test("members that are special in JavaScript are ordinary columns", async () => {
  const { rows, ignored } = await read(
    `{"__proto__":{"apiId":"x"},"constructor":1,"hash":"${hashOf("tide_1")}"}`,
  );
  expect(rows[0]?.key).toEqual({ hash: { value: hashOf("tide_1"), variant: "sha256_hex" } });
  expect(ignored).toEqual(["__proto__", "constructor"]);
});
