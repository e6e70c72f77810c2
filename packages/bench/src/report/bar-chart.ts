import { threeDigits } from "./numbers.js";
import { logAxis } from "./scale-axis.js";
import { bar, legend, line, svg, text } from "./svg.js";

/** Bars in groups, lying, on a logarithmic axis. */
export interface BarChart {
  readonly title: string;
  readonly axis: string;
  readonly series: readonly string[];
  readonly groups: readonly {
    readonly name: string;
    /** One for each series; null where there is none. */
    readonly values: readonly (number | null)[];
  }[];
  /** A value that is marked by a line, with its name. */
  readonly mark: { readonly value: number; readonly name: string } | null;
  /** What stands behind a number. */
  readonly unit: string;
}

const WIDTH = 760;
const NAMES_WIDTH = 290;
const RIGHT = 90;
const TOP = 92;
const BAR = 13;
const GAP = 14;

/** Draws bars. A chart without a value is an error of its maker. */
export function barChart({ title, axis, series, groups, mark, unit }: BarChart): string {
  const values = groups.flatMap((group) => group.values.filter((value) => value !== null));
  const marked = mark === null ? [] : [mark.value];
  const scale = logAxis([...values, ...marked], NAMES_WIDTH, WIDTH - RIGHT);
  const body: string[] = [text(16, 26, title, { kind: "text title" }), ...legend(16, 50, series)];
  let y = TOP;
  const bars: string[] = [];
  for (const { name, values: some } of groups) {
    const height = some.filter((value) => value !== null).length * (BAR + 2);
    bars.push(text(NAMES_WIDTH - 10, y + height / 2 + 4, name, { anchor: "end" }));
    for (const [index, value] of some.entries()) {
      if (value === null) continue;
      const width = scale.place(value) - NAMES_WIDTH;
      bars.push(
        bar(NAMES_WIDTH, y, width, BAR, index),
        text(NAMES_WIDTH + Math.max(width, 1) + 6, y + BAR - 2, `${threeDigits(value)}${unit}`, {
          kind: "quiet",
        }),
      );
      y += BAR + 2;
    }
    y += GAP;
  }
  for (const tick of scale.ticks) {
    const x = scale.place(tick);
    body.push(
      line(x, TOP - 8, x, y - GAP + 6, "rule"),
      text(x, TOP - 14, tick.toLocaleString("en"), { kind: "quiet", anchor: "middle" }),
    );
  }
  body.push(...bars);
  if (mark !== null) {
    const x = scale.place(mark.value);
    body.push(
      line(x, TOP - 8, x, y - GAP + 6, "mark"),
      text(x, y + 8, mark.name, { anchor: "middle" }),
    );
  }
  body.push(text(WIDTH - 16, y + 26, axis, { kind: "quiet", anchor: "end" }));
  return svg(WIDTH, y + 40, title, body);
}
