import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REFUSAL_FORMS } from "./refusal-form.js";
import { compile, guardFolder, install } from "./testing/user-project.js";

const readme = readFileSync(join(guardFolder, "README.md"), "utf8");

test("every program of the README compiles under the strictest settings", () => {
  const folder = install();
  const programs = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  const names = programs.map((_, index) => `${index}.mts`);
  for (const [index, code] of programs.entries()) writeFileSync(join(folder, `${index}.mts`), code);
  const { stdout, status } = compile(folder, "--noEmit", ...names);
  expect([stdout, status]).toEqual(["", 0]);
  expect(names).toHaveLength(12);
});

test("the README has a row for every refusal, with its status", () => {
  for (const [code, { status }] of Object.entries(REFUSAL_FORMS)) {
    const row = readme
      .split("\n")
      .find((line) => line.startsWith("| `") && line.includes(`\`${code}\``));
    expect(row, code).toMatch(new RegExp(`\\| ${status}\\b`));
  }
});
