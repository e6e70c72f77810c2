import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** The built package. */
const ENTRY = new URL("../dist/index.js", import.meta.url);

/** The built-in modules that Node.js loads when it imports a module. */
function loadedFor(url: string): readonly string[] {
  const program = `await import(${JSON.stringify(url)});
    console.log(JSON.stringify(process.moduleLoadList))`;
  const args = ["--input-type=module", "--eval", program];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout) as string[];
}

const parsers = (loaded: readonly string[]) =>
  loaded.filter((name) => name.includes("cjs-module-lexer"));

test("importing latchkey does not load the CommonJS parser, which takes longer than most of latchkey", () => {
  expect(parsers(loadedFor(ENTRY.href))).toEqual([]);
});

test("the parser is detected if a CommonJS module is imported", () => {
  const { href } = new URL("./index.js", import.meta.resolve("commander"));
  expect(parsers(loadedFor(href))).not.toEqual([]);
});
