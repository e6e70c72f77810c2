import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CONTROLS, controlTable } from "./controls.js";
import { root } from "./sources.js";
import { testTitles } from "./test-titles.js";

const PAGE = join(root, "SECURITY.md");
const SECTION = /(?<=<!-- controls: [^\n]*-->\n)[\s\S]*?(?=<!-- \/controls -->)/;
const controls = CONTROLS.flatMap(([, group]) => group);

const titles = new Map(
  [...new Set(controls.flatMap(({ tests }) => tests.map(([file]) => file)))].map((file) => {
    const path = join(root, file);
    return [file, existsSync(path) ? testTitles(path, readFileSync(path, "utf8")) : null];
  }),
);

describe("the table of controls", () => {
  test("has each of the 47 controls, in order, with a description and a test", () => {
    const ids = Array.from({ length: 47 }, (_, at) => `C${String(at + 1).padStart(2, "0")}`);
    expect(controls.map(({ id }) => id)).toEqual(ids);
    for (const { id, control, tests } of controls)
      expect([id, control.length > 20, tests.length > 0]).toEqual([id, true, true]);
  });

  test.each(controls)("names only existing tests for $id", ({ tests }) => {
    const missing = tests.filter(([file, title]) => titles.get(file)?.includes(title) !== true);
    expect(missing).toEqual([]);
  });

  test("is the table in SECURITY.md, word for word: UPDATE_SECURITY=1 writes it", () => {
    const table = `\n${controlTable()}\n\n`;
    const page = readFileSync(PAGE, "utf8");
    if (process.env.UPDATE_SECURITY === "1")
      writeFileSync(
        PAGE,
        page.replace(SECTION, () => table),
      );
    expect(SECTION.exec(readFileSync(PAGE, "utf8"))?.[0]).toBe(table);
  });
});

test("every link of SECURITY.md leads to a file", () => {
  const targets = [...readFileSync(PAGE, "utf8").matchAll(/\]\((?!https?:)([^)#]+)/g)];
  expect(targets.length).toBeGreaterThan(47);
  expect(targets.filter(([, path = ""]) => !existsSync(join(root, path)))).toEqual([]);
});

test("titles are found in every form of a test, and in store contracts", () => {
  const text = `
    test("plain", () => {});
    test.each([1])("of each %i", () => {});
    test.each\`a\`("of a table", () => {});
    describe("a group", () => { test("inner", () => expect(1).toBe(1)); });
    const contracts = [it("of a store", async (store) => {}), { title: "of nothing" }];
    // test("in a comment", () => {});
  `;
  expect(testTitles("some.ts", text)).toEqual([
    "plain",
    "of each %i",
    "of a table",
    "inner",
    "of a store",
  ]);
});
