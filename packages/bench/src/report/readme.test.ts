import { expect, test } from "vitest";
import type { DatedMeasurement } from "../results.js";
import { merged } from "../results.js";
import { withResults } from "./readme.js";

const BEGIN = "<!-- begin: written by npm run bench -- --write -->";
const measured: DatedMeasurement = {
  id: "page/memory",
  title: "page",
  unit: "µs",
  sides: [{ name: "latchkey", samples: [1] }],
  at: "2030-01-01",
  load: 1.5,
  machine: "2 cores",
};

test("results are written between the markers, writing twice changes nothing, and the rest stays", () => {
  const table = { title: "Pages", headings: ["work"], rows: [["page"]], footnotes: [] };
  const chart = { file: "growth.svg", title: "Growth", svg: "" };
  const readme = `before\n${BEGIN}\nold\n<!-- end -->\nafter\n`;
  const once = withResults(readme, [measured], [table], [chart]);
  expect(once).toMatch(/^before\n/);
  expect(once).toMatch(/<!-- end -->\nafter\n$/);
  expect(once).toContain("![Growth](charts/growth.svg)");
  expect(once).toContain("### Pages");
  expect(once).toContain("Measured 2030-01-01 on 2 cores.");
  expect(once).not.toContain("old");
  expect(withResults(once, [measured], [table], [chart])).toBe(once);
});

test("a README without markers is refused", () => {
  expect(() => withResults("text", [measured], [], [])).toThrow("the README has no");
});

test("new figures replace the earlier ones, and the others stay", () => {
  const other = { ...measured, id: "page/sqlite" };
  const newer = { ...measured, at: "2030-02-02" };
  const added = { ...measured, id: "page/redis" };
  expect(merged([measured, other], [added, newer])).toEqual([newer, other, added]);
});
