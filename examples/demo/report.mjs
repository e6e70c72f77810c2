// The output of the demo: numbered steps, a table per step, a mark per row.

import { isDeepStrictEqual } from "node:util";

const hasColour =
  process.env.NO_COLOR === undefined && process.env.TERM !== "dumb" && process.stdout.isTTY;

/** @param {number} code @param {string} text */
const paint = (code, text) => (hasColour ? `\x1b[${code}m${text}\x1b[0m` : text);

const bold = 1;
const dim = 2;
const red = 31;
const green = 32;

let stepCount = 0;
let isStepEmpty = true;
let checkCount = 0;
let failureCount = 0;

/**
 * A row of a table: the shown cells, the actual value, and the expected one.
 *
 * @typedef {{ readonly cells: readonly unknown[], readonly actual: unknown, readonly expected: unknown }} Row
 */

/** @param {string} title */
export function step(title) {
  stepCount += 1;
  isStepEmpty = true;
  console.log(`\n${paint(bold, `${String(stepCount).padStart(2)}  ${title}`)}\n`);
}

/** @param {string} text */
export function note(text) {
  console.log(`\n    ${paint(dim, text)}`);
}

/**
 * Prints rows below their headings, each with a mark, and the expected value below a wrong row.
 *
 * @param {readonly string[]} headings
 * @param {readonly Row[]} rows
 */
export function table(headings, rows) {
  const lines = rows.map(({ cells }) => headings.map((_, column) => show(cells[column])));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  /** @param {readonly string[]} line */
  const align = (line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ");
  if (!isStepEmpty) console.log();
  isStepEmpty = false;
  console.log(`    ${paint(dim, align(headings).trimEnd())}`);
  for (const [index, { actual, expected }] of rows.entries()) {
    const isRight = isDeepStrictEqual(actual, expected);
    checkCount += 1;
    if (!isRight) failureCount += 1;
    const mark = isRight ? paint(green, "✓") : paint(red, "✗");
    console.log(`    ${align(lines[index] ?? [])}   ${mark}`);
    if (isRight) continue;
    console.log(paint(red, `      expected ${JSON.stringify(expected)}`));
    console.log(paint(red, `      got      ${JSON.stringify(actual)}`));
  }
}

/** Prints the result, and returns whether every check passed. */
export function summary() {
  const isGood = failureCount === 0;
  const text = isGood
    ? `✓ ${stepCount} steps, ${checkCount} checks, all as they should be`
    : `✗ ${failureCount} of ${checkCount} checks failed`;
  console.log(`\n${paint(isGood ? green : red, text)}\n`);
  return isGood;
}

/** @param {unknown} value */
function show(value) {
  return value === undefined || value === null ? "" : String(value);
}
