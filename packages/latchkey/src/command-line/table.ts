import { fitting, padded, widthOf } from "./text-width.js";

/** Width of a terminal that does not report its own. */
export const DEFAULT_COLUMNS = 100;

/** Separator of two columns. */
const GAP = "  ";

/** Minimum width of a column. */
const MIN_WIDTH = 8;

/** Ids are copied, so they are never broken. */
const ID = /^[a-z]{2,5}_[1-9A-HJ-NP-Za-km-z]{16,}$/;

/** The width of each column, so that lines are at most this wide, unless unbreakable values need more. */
export function fittingWidths(
  rows: readonly (readonly string[])[],
  isWhole: readonly boolean[],
  columns: number,
): readonly number[] {
  const widths = (rows[0] ?? []).map((_, at) => widest(rows, at, () => true));
  const least = widths.map((width, at) =>
    Math.min(
      width,
      Math.max(
        MIN_WIDTH,
        widest(rows, at, (cell) => isWhole[at] === true || ID.test(cell)),
      ),
    ),
  );
  const total = () => widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  for (let over = total() - columns; over > 0; over = total() - columns) {
    const [at, next] = widestTwo(widths, least);
    if (at === undefined) break;
    const width = widths[at] ?? 0;
    // Skips to the next width, because a name may have thousands of characters.
    const lowest = Math.max(least[at] ?? 0, next === undefined ? 0 : (widths[next] ?? 0) - 1);
    widths[at] = Math.max(lowest, width - over);
  }
  return widths;
}

/** The lines of a row: a value too wide for its column continues on the next line. */
export function wrapped(row: readonly string[], widths: readonly number[]): readonly string[] {
  const cells = row.map((cell, at) => pieces(cell, widths[at] ?? 0));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, at) => padded(lines[line] ?? "", widths[at] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function widest(
  rows: readonly (readonly string[])[],
  at: number,
  isCounted: (cell: string) => boolean,
): number {
  return rows.reduce((most, row) => {
    const cell = row[at] ?? "";
    return isCounted(cell) ? Math.max(most, widthOf(cell)) : most;
  }, 0);
}

/** The two widest columns that can still be narrower. */
function widestTwo(widths: readonly number[], least: readonly number[]): readonly number[] {
  return widths
    .map((width, at) => ({ width, at }))
    .filter(({ width, at }) => width > (least[at] ?? 0))
    .sort((one, other) => other.width - one.width)
    .slice(0, 2)
    .map(({ at }) => at);
}

/** A text in pieces of at most this width, broken after a space or a comma if possible. */
function pieces(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  for (let most = fitting(rest, width); most < rest.length; most = fitting(rest, width)) {
    const space = rest.slice(0, most + 1).lastIndexOf(" ");
    const comma = rest.slice(0, most).lastIndexOf(",") + 1;
    const end = Math.max(space, comma) > 0 ? Math.max(space, comma) : most;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}
