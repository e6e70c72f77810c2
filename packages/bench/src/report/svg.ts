/** Colours of series, for light and dark backgrounds. */
const SERIES_COLOURS = [
  { light: "#1f5fbf", dark: "#79aef5" },
  { light: "#c2570c", dark: "#f2a05c" },
  { light: "#15803d", dark: "#6fcf8f" },
  { light: "#7c3aed", dark: "#bfa3f7" },
] as const;

/** An image for any background: it follows the reader's preference for light or dark. */
export function svg(width: number, height: number, title: string, body: readonly string[]): string {
  const rules = (mode: "light" | "dark") =>
    [
      `.text{fill:${mode === "light" ? "#1f2328" : "#e6edf3"}}`,
      `.quiet{fill:${mode === "light" ? "#59636e" : "#9198a1"}}`,
      `.rule{stroke:${mode === "light" ? "#d1d9e0" : "#3d444d"}}`,
      `.mark{stroke:${mode === "light" ? "#1f2328" : "#e6edf3"}}`,
      ...SERIES_COLOURS.map(
        (colour, index) => `.s${index}{fill:${colour[mode]}}.l${index}{stroke:${colour[mode]}}`,
      ),
    ].join("");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>text{font:13px system-ui,sans-serif}.title{font-weight:600;font-size:15px}.rule,.mark{stroke-width:1}` +
      `.line{fill:none;stroke-width:2}${rules("light")}@media (prefers-color-scheme:dark){${rules("dark")}}</style>`,
    ...body,
    "</svg>",
    "",
  ].join("\n");
}

/** A line of text. `anchor`: which part of it is at `x`. */
export function text(
  x: number,
  y: number,
  content: string,
  {
    kind = "text",
    anchor = "start",
  }: { readonly kind?: string; readonly anchor?: "start" | "middle" | "end" } = {},
): string {
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escapeXml(content)}</text>`;
}

/** A straight line: `rule` for the grid, `mark` for an emphasised line. */
export function line(
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  kind: "rule" | "mark",
): string {
  return `<line class="${kind}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;
}

/** A bar of a series, at least 1 wide. */
export function bar(x: number, y: number, width: number, height: number, series: number): string {
  return `<rect class="s${series}" x="${round(x)}" y="${round(y)}" width="${round(Math.max(width, 1))}" height="${round(height)}" rx="2"/>`;
}

/** The line through the points of a series, with a dot at each. */
export function path(points: readonly (readonly [number, number])[], series: number): string {
  const places = points.map(([x, y]) => `${round(x)},${round(y)}`);
  const dots = points.map(
    ([x, y]) => `<circle class="s${series}" cx="${round(x)}" cy="${round(y)}" r="3.5"/>`,
  );
  return [`<polyline class="line l${series}" points="${places.join(" ")}"/>`, ...dots].join("\n");
}

/** The names of the series, side by side. */
export function legend(x: number, y: number, names: readonly string[]): readonly string[] {
  let left = x;
  return names.flatMap((name, index) => {
    const at = left;
    left += 46 + name.length * 7;
    return [bar(at, y - 10, 12, 12, index), text(at + 18, y, name)];
  });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
