import { logAxis } from "./scale-axis.js";
import { legend, line, path, svg, text } from "./svg.js";

/** Panels in two columns, each with its own logarithmic axes. */
export interface LineChart {
  readonly title: string;
  readonly across: string;
  readonly series: readonly string[];
  readonly panels: readonly {
    readonly name: string;
    /** Points of each series; empty: not measured. */
    readonly lines: readonly (readonly { readonly x: number; readonly y: number }[])[];
  }[];
}

const WIDTH = 760;
const PANEL_HEIGHT = 200;
const TOP = 84;
const LEFT = 56;
const COLUMNS = 2;

/** Draws the chart. It must have at least one point. */
export function lineChart({ title, across, series, panels }: LineChart): string {
  const body: string[] = [text(16, 26, title, { kind: "text title" }), ...legend(16, 50, series)];
  const panelWidth = (WIDTH - 16) / COLUMNS;
  for (const [index, panel] of panels.entries()) {
    const points = panel.lines.flat();
    const left = (index % COLUMNS) * panelWidth + LEFT;
    const top = TOP + Math.floor(index / COLUMNS) * (PANEL_HEIGHT + 70);
    const right = left + panelWidth - LEFT - 24;
    const bottom = top + PANEL_HEIGHT;
    const xs = logAxis(
      points.map(({ x }) => x),
      left + 10,
      right - 10,
    );
    const ys = logAxis(
      points.map(({ y }) => y),
      bottom,
      top,
    );
    body.push(text(left, top - 8, panel.name));
    for (const tick of ys.ticks)
      body.push(
        line(left, ys.place(tick), right, ys.place(tick), "rule"),
        text(left - 6, ys.place(tick) + 4, tick.toLocaleString("en"), {
          kind: "quiet",
          anchor: "end",
        }),
      );
    for (const x of new Set(points.map((point) => point.x)))
      body.push(
        text(xs.place(x), bottom + 20, x.toLocaleString("en"), { kind: "quiet", anchor: "middle" }),
      );
    for (const [number, some] of panel.lines.entries())
      if (some.length > 0)
        body.push(
          path(
            some.map(({ x, y }) => [xs.place(x), ys.place(y)] as const),
            number,
          ),
        );
  }
  const rows = Math.ceil(panels.length / COLUMNS);
  const height = TOP + rows * (PANEL_HEIGHT + 70) + 10;
  body.push(text(WIDTH - 16, height - 14, across, { kind: "quiet", anchor: "end" }));
  return svg(WIDTH, height, title, body);
}
