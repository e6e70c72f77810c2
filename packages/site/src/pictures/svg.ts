/** Tools to draw the diagrams of the documentation, which look the same on light and on dark pages. */

const COLOURS = {
  light: {
    text: "#1f2328",
    quiet: "#59636e",
    rule: "#d1d9e0",
    strong: "#1f5fbf",
    soft: "#a9c4ea",
    faint: "#eef3fa",
    bad: "#b3403a",
  },
  dark: {
    text: "#e6edf3",
    quiet: "#9198a1",
    rule: "#3d444d",
    strong: "#79aef5",
    soft: "#34598c",
    faint: "#1b2636",
    bad: "#f0857d",
  },
};

/** How a shape is painted. */
export type Paint = keyof (typeof COLOURS)["light"];

/**
 * A picture made of shapes.
 *
 * @param title - What it shows, for readers who cannot see it.
 */
export function svg(
  title: string,
  width: number,
  height: number,
  shapes: readonly string[],
): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>text{font:13px system-ui,sans-serif}.small{font-size:12px}.title{font-weight:600}.code{font-family:ui-monospace,monospace;font-size:12px}${rules("light")}@media(prefers-color-scheme:dark){${rules("dark")}}</style>`,
    `<defs>${arrowHead("quiet")}${arrowHead("strong")}${arrowHead("bad")}</defs>`,
    ...shapes,
    "</svg>",
    "",
  ].join("\n");
}

function rules(mode: "light" | "dark"): string {
  return Object.entries(COLOURS[mode])
    .map(([name, colour]) => `.${name}{fill:${colour}}.line-${name}{fill:none;stroke:${colour}}`)
    .join("");
}

function arrowHead(paint: Paint): string {
  return `<marker id="arrow-${paint}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="${paint}" d="M0 0 8 4 0 8z"/></marker>`;
}

/** How a text is set. */
export interface TextOptions {
  readonly paint?: Paint;
  /** Which end of the text is at x. */
  readonly anchor?: "start" | "middle" | "end";
  readonly style?: "title" | "small" | "code";
}

export function text(x: number, y: number, content: string | number, options: TextOptions = {}) {
  const { paint = "text", anchor = "start", style } = options;
  const classes = style === undefined ? paint : `${paint} ${style}`;
  return `<text class="${classes}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escaped(String(content))}</text>`;
}

export function rect(
  x: number,
  y: number,
  width: number,
  height: number,
  paint: Paint,
  radius = 0,
): string {
  const corners = radius === 0 ? "" : ` rx="${radius}"`;
  return `<rect class="${paint}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"${corners}/>`;
}

/** A box with one or two lines of text in its middle. */
export function box(
  [x, y, width, height]: readonly [number, number, number, number],
  lines: readonly [title: string, note?: string],
  edge: Paint = "strong",
): string[] {
  const [title, note] = lines;
  const middle = x + width / 2;
  const centre = y + height / 2;
  return [
    `<rect class="faint line" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`,
    `<rect class="line-${edge}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`,
    text(middle, note === undefined ? centre + 4 : centre - 4, title, {
      anchor: "middle",
      style: "code",
    }),
    ...(note === undefined
      ? []
      : [text(middle, centre + 14, note, { anchor: "middle", style: "small", paint: "quiet" })]),
  ];
}

/** A line through points; with an arrow at its end, or at both. */
export function path(
  points: readonly (readonly [number, number])[],
  paint: Paint,
  arrows: "none" | "end" | "both" = "none",
  dashes = "",
): string {
  const d = points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${round(x)} ${round(y)}`);
  const end = arrows === "none" ? "" : ` marker-end="url(#arrow-${paint})"`;
  const start = arrows === "both" ? ` marker-start="url(#arrow-${paint})"` : "";
  const dashed = dashes === "" ? "" : ` stroke-dasharray="${dashes}"`;
  return `<path class="line-${paint}" stroke-width="1.5" d="${d.join("")}"${start}${end}${dashed}/>`;
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
