import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** Where this package was built to, before the tests. */
const ENTRY = new URL("../dist/index.js", import.meta.url);

/** What Node.js loads to import a module, of its own. */
function loadedFor(url: string): readonly string[] {
  const program = `await import(${JSON.stringify(url)});
    console.log(JSON.stringify(process.moduleLoadList))`;
  const args = ["--input-type=module", "--eval", program];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout) as string[];
}

const parsers = (loaded: readonly string[]) =>
  loaded.filter((name) => name.includes("cjs-module-lexer"));

test("importing latchkey starts no parser for CommonJS, which takes longer than most of latchkey", () => {
  expect(parsers(loadedFor(ENTRY.href))).toEqual([]);
});

test("the parser is seen where a CommonJS module is imported", () => {
  const { href } = new URL("./index.js", import.meta.resolve("commander"));
  expect(parsers(loadedFor(href))).not.toEqual([]);
});
