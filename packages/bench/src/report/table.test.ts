import { expect, test } from "vitest";
import { spread, spreadWithUnit, threeDigits, withUnit } from "./numbers.js";
import { asMarkdown, asText } from "./table.js";

const table = {
  title: "Memory",
  headings: ["question", "µs"],
  rows: [
    ["bare", "1.5"],
    ["a | b", "10.25"],
  ],
  footnotes: ["¹ Why not."],
};

test("in a terminal the first column is aligned to the left, and the others to the right", () => {
  expect(asText(table)).toBe(
    "Memory\n\nquestion     µs\nbare        1.5\na | b     10.25\n  ¹ Why not.\n",
  );
});

test("in Markdown a bar in a cell does not end the cell", () => {
  expect(asMarkdown(table)).toBe(
    "### Memory\n\n| question | µs |\n| --- | ---: |\n| bare | 1.5 |\n| a \\| b | 10.25 |\n\n¹ Why not.  \n",
  );
});

test("numbers show three digits", () => {
  expect([0.123, 2.406, 24.06, 240.6, 2406].map(threeDigits)).toEqual([
    "0.12",
    "2.41",
    "24.1",
    "241",
    "2,406",
  ]);
});

test("a spread is the median with its quartiles", () => {
  expect(spread({ p25: 1, median: 2, p75: 30 })).toBe("2.00 (1.00–30.0)");
});

test("a spread with its unit is only the median if all samples are equal", () => {
  expect(spreadWithUnit({ p25: 1, median: 2, p75: 30 }, "µs")).toBe("2.00 (1.00–30.0) µs");
  expect(spreadWithUnit({ p25: 2, median: 2, p75: 2 }, "trips")).toBe("2.00 trips");
});

test("bytes and counts are whole numbers", () => {
  expect(withUnit(1234.6, "bytes")).toBe("1,235 bytes");
  expect(withUnit(100, "admitted")).toBe("100");
  expect(withUnit(1.5, "ms")).toBe("1.50 ms");
});
