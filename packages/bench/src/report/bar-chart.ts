import { threeDigits } from "./numbers.js";
import { logAxis } from "./scale-axis.js";
import { bar, legend, line, svg, text } from "./svg.js";

/** Horizontal bars in groups. They start at a base value, because a logarithmic axis has no zero. */
export interface BarChart {
  readonly title: string;
  readonly axis: string;
  readonly series: readonly string[];
  readonly groups: readonly {
    readonly name: string;
    /** One for each series; null: not measured. */
    readonly values: readonly (number | null)[];
  }[];
  /** Where bars start. Smaller values extend to the left. */
  readonly origin: { readonly value: number; readonly name: string };
}

const WIDTH = 760;
const CHARACTER_WIDTH = 7;
const RIGHT = 90;
const TOP = 92;
const BAR = 13;
const GAP = 14;

/** Draws the chart. It must have at least one value. */
export function barChart({ title, axis, series, groups, origin }: BarChart): string {
  const values = groups.flatMap((group) => group.values.filter((value) => value !== null));
  const left = Math.max(...groups.map(({ name }) => name.length)) * CHARACTER_WIDTH + 80;
  const scale = logAxis([...values, origin.value], left, WIDTH - RIGHT);
  const start = scale.place(origin.value);
  const body: string[] = [text(16, 26, title, { kind: "text title" }), ...legend(16, 50, series)];
  let y = TOP;
  const bars: string[] = [];
  for (const { name, values: some } of groups) {
    const height = some.filter((value) => value !== null).length * (BAR + 2);
    bars.push(text(left - 64, y + height / 2 + 4, name, { anchor: "end" }));
    for (const [index, value] of some.entries()) {
      if (value === null) continue;
      const end = scale.place(value);
      const [from, to] = end < start ? [end, start] : [start, end];
      const label = end < start ? ([from - 6, "end"] as const) : ([to + 6, "start"] as const);
      const [x, anchor] = label;
      bars.push(
        bar(from, y, to - from, BAR, index),
        text(x, y + BAR - 2, threeDigits(value), { kind: "quiet", anchor }),
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
  body.push(
    ...bars,
    line(start, TOP - 8, start, y - GAP + 6, "mark"),
    text(start, y + 8, origin.name, { anchor: "middle" }),
    text(WIDTH - 16, y + 26, axis, { kind: "quiet", anchor: "end" }),
  );
  return svg(WIDTH, y + 40, title, body);
}
