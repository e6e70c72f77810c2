import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** The built package. */
const ENTRY = new URL("../dist/index.js", import.meta.url);

/** The CommonJS modules that Node.js has loaded after it imported a module. */
function commonJsLoadedFor(url: string): readonly string[] {
  const program = `import { createRequire } from "node:module";
    await import(${JSON.stringify(url)});
    console.log(JSON.stringify(Object.keys(createRequire(${JSON.stringify(url)}).cache)))`;
  const args = ["--input-type=module", "--eval", program];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout) as string[];
}

test("importing latchkey loads no CommonJS module: Node.js would load a parser for it, which takes longer than most of latchkey", () => {
  expect(commonJsLoadedFor(ENTRY.href)).toEqual([]);
});

test("a CommonJS module that is imported is noticed", () => {
  const { href } = new URL("./index.js", import.meta.resolve("commander"));
  expect(commonJsLoadedFor(href)).not.toEqual([]);
});
