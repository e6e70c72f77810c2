import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import equivalents from "./mutation/equivalents.json" with { type: "json" };
import { root } from "./sources.js";

test("each equivalent mutant names a line that exists", () => {
  expect(equivalents.length).toBeGreaterThan(50);
  const gone = equivalents.filter(({ file, line, original }) => {
    const source = readFileSync(`${root}/packages/core/src/${file}.ts`, "utf8");
    const stands = source.split("\n").some((one) => one.trim() === line);
    // The replaced code may continue on the lines below.
    return !stands || !line.includes(original.split("\n")[0] ?? original);
  });
  expect(gone).toEqual([]);
});
