import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { root } from "./sources.js";

const page = readFileSync(`${root}/docs/proof.md`, "utf8");

/** The text below a heading, up to the next one of the same level. */
function sectionOf(heading: string): string {
  const [, section] = page.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`docs/proof.md has no section "${heading}"`);
  return section.split("\n## ")[0] ?? "";
}

const numberOf = (text: string) => Number(text.replaceAll(",", ""));

/** The rows of a section with numbers from the second cell on. The last row, `all`, is the sum. */
function figuresOf(heading: string): readonly (readonly number[])[] {
  const lines = sectionOf(heading).matchAll(/^\| ([^|]+)((?: \| [\d,.]+)+) \|$/gm);
  return [...lines].map(([, , cells = ""]) => cells.split(" | ").slice(1).map(numberOf));
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

/** The numbers of schedules after which the rows of a table were found, ascending. */
function foundAfter(text: string): readonly number[] {
  const rows = text.matchAll(/^\| `[^|]+` \| [^|]+ \| ([\d,]+) \| [^|]+ \|$/gm);
  return [...rows].map(([, after = ""]) => numberOf(after)).sort((one, other) => one - other);
}

describe("docs/proof.md", () => {
  test("has the right sums of the mutants of the rules, and the right shares found", () => {
    const figures = figuresOf("Mutation testing of the rules");
    for (const [mutants = 0, found = 0, score] of figures)
      expect(score).toBeCloseTo((100 * found) / mutants, 1);
    const rows = figures.slice(0, -1);
    expect(rows.length).toBeGreaterThan(30);
    const sums = [0, 1].map((column) => sumOf(rows.map((row) => row[column] ?? 0)));
    expect(figures.at(-1)?.slice(0, 2)).toEqual(sums);
  });

  test("has the right sum of the generated inputs", () => {
    const inputs = figuresOf("Generated input").map(([count = 0]) => count);
    expect(inputs.length).toBeGreaterThan(10);
    expect(inputs.at(-1)).toBe(sumOf(inputs.slice(0, -1)));
  });

  test.each([
    ["Would it notice?", /lists all (\d+) mutants[^.]*\. .* half within (\d+) schedules/],
    ["A model of leases", /All (\d+) faults are found, half of them within (\d+) schedules/],
  ])(
    "states the right number of rows below %s, and within how many schedules half were found",
    (heading, sentence) => {
      const section = sectionOf(heading).split("The laws also detect")[0] ?? "";
      const after = foundAfter(section);
      const [, count, half] = sentence.exec(section) ?? [];
      expect(numberOf(count ?? "")).toBe(after.length);
      expect(numberOf(half ?? "")).toBe(after[Math.ceil(after.length / 2) - 1]);
    },
  );
});
