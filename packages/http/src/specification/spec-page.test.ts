import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const here = new URL("./", import.meta.url);

/** Titles of the specification's tests, as `file: title`. */
function testsInFiles(): string[] {
  return readdirSync(here)
    .filter((name) => /^spec-.*\.test\.ts$/.test(name))
    .flatMap((name) => {
      const source = readFileSync(new URL(name, here), "utf8");
      return [...source.matchAll(/\btest\(\s*"(spec [^"]+)"/g)].map(
        ([, title]) => `${name}: ${title}`,
      );
    })
    .sort();
}

/** Rows of SPEC.md, in the same form. */
function testsInPage(): string[] {
  const page = readFileSync(new URL("../../SPEC.md", here), "utf8");
  return [
    ...page.matchAll(
      /^\| (.+?) \| `(spec \S+ (.+?): .+)` \| \[(.+)\]\(src\/specification\/(.+)\) \|$/gm,
    ),
  ]
    .map(([, row, title, titleRow, file, link]) => {
      expect([row, file]).toEqual([titleRow, link]);
      return `${file}: ${title}`;
    })
    .sort();
}

test("SPEC.md lists every test of the specification, and no other", () => {
  expect(testsInPage()).toEqual(testsInFiles());
  expect(testsInPage().length).toBeGreaterThan(90);
});
