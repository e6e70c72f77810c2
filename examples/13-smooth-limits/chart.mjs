import { admittedInMinuteBefore, LENGTH_MS } from "./traffic.mjs";

const [WIDTH, LEFT, RIGHT] = [760, 48, 12];
/** Heights in one row: its title, the line of the last minute, the bars below it, and the space below them. */
const [TITLE, LINE, BARS, FOOT] = [34, 90, 60, 26];
const ROW = TITLE + LINE + BARS + FOOT;
const BIN_MS = 2_000;
const [MOST_IN_MINUTE, MOST_IN_BIN] = [130, 26];

const COLOURS = {
  light: {
    text: "#1f2328",
    quiet: "#59636e",
    rule: "#d1d9e0",
    admitted: "#1f5fbf",
    refused: "#c9ced6",
  },
  dark: {
    text: "#e6edf3",
    quiet: "#9198a1",
    rule: "#3d444d",
    admitted: "#79aef5",
    refused: "#4b535d",
  },
};

const WORDS = {
  fixed: "fixed: 60 in each minute of the clock",
  sliding: "sliding: never more than 60 in any minute",
  "token-bucket": "token bucket: 60 a minute flow in, it holds 20",
};

/** @typedef {{ readonly limit: import("./traffic.mjs").Limit, readonly decided: readonly import("./traffic.mjs").Decided[] }} Row */

/**
 * A chart of the requests that limits admitted, one row per limit, for light and dark pages.
 *
 * @param {readonly Row[]} rows
 */
export function chartOf(rows) {
  const height = rows.length * ROW + 30;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${rows.map(({ limit }) => WORDS[limit.algorithm]).join("; ")}: what each admitted of the same requests</title>`,
    `<style>text{font:13px system-ui,sans-serif}.title{font-weight:600}.line{fill:none;stroke-width:2}.limit{stroke-dasharray:4 3}${rules("light")}@media (prefers-color-scheme:dark){${rules("dark")}}</style>`,
    ...rows.flatMap((row, index) => rowOf(row, index * ROW)),
    ...legend(rows.length * ROW + 12),
    "</svg>",
    "",
  ].join("\n");
}

/** @param {"light" | "dark"} mode */
function rules(mode) {
  const { text, quiet, rule, admitted, refused } = COLOURS[mode];
  return `.text,.title{fill:${text}}.quiet{fill:${quiet}}.rule,.limit{stroke:${rule}}.limit{stroke:${quiet}}.admitted{fill:${admitted}}.line{stroke:${admitted}}.refused{fill:${refused}}`;
}

/**
 * @param {Row} row
 * @param {number} top
 */
function rowOf({ limit, decided }, top) {
  const lineEnd = top + TITLE + LINE;
  const barEnd = lineEnd + BARS;
  const y = (/** @type {number} */ count) => lineEnd - (count / MOST_IN_MINUTE) * LINE;
  const seconds = Array.from({ length: LENGTH_MS / 1_000 + 1 }, (_, at) => at * 1_000);
  const inMinute = seconds.map((at) => admittedInMinuteBefore(decided, at));
  const points = seconds.map((at, index) => `${x(at)},${round(y(inMinute[index] ?? 0))}`);
  const most = Math.max(...inMinute);
  const mostAt = x(inMinute.indexOf(most) * 1_000);
  return [
    text(LEFT, top + 20, WORDS[limit.algorithm], "title"),
    text(mostAt + 6, y(most) - 5, `${most} in one minute`, "text"),
    `<line class="limit" x1="${LEFT}" y1="${round(y(limit.limit))}" x2="${WIDTH - RIGHT}" y2="${round(y(limit.limit))}"/>`,
    text(LEFT - 6, y(limit.limit) + 4, limit.limit, "quiet", "end"),
    `<polyline class="line" points="${points.join(" ")}"/>`,
    ...barsOf(decided, barEnd),
    ...[0, 1, 2, 3].map((minute) =>
      text(
        x(minute * 60_000),
        barEnd + 16,
        `${minute}:00`,
        "quiet",
        minute === 3 ? "end" : "middle",
      ),
    ),
    ...[0, 1, 2, 3].map(
      (minute) =>
        `<line class="rule" x1="${x(minute * 60_000)}" y1="${top + TITLE}" x2="${x(minute * 60_000)}" y2="${barEnd}"/>`,
    ),
  ];
}

/**
 * The requests in each two seconds: admitted ones below, refused ones on top.
 *
 * @param {Row["decided"]} decided
 * @param {number} bottom
 */
function barsOf(decided, bottom) {
  const bars = [];
  for (let from = 0; from < LENGTH_MS; from += BIN_MS) {
    const within = decided.filter(({ at }) => at >= from && at < from + BIN_MS);
    const admitted = within.filter((one) => one.admitted).length;
    const heights = { admitted, refused: within.length - admitted };
    let base = bottom;
    for (const [kind, count] of Object.entries(heights)) {
      if (count === 0) continue;
      const height = (count / MOST_IN_BIN) * (BARS - 8);
      base -= height;
      bars.push(
        `<rect class="${kind}" x="${x(from)}" y="${round(base)}" width="6.5" height="${round(height)}"/>`,
      );
    }
  }
  return bars;
}

/** @param {number} y */
function legend(y) {
  return [
    `<line class="line" x1="${LEFT}" y1="${y - 4}" x2="${LEFT + 18}" y2="${y - 4}"/>`,
    text(LEFT + 24, y, "admitted in the last minute", "quiet"),
    `<rect class="admitted" x="${LEFT + 210}" y="${y - 10}" width="10" height="10"/>`,
    text(LEFT + 226, y, "admitted in 2 s", "quiet"),
    `<rect class="refused" x="${LEFT + 340}" y="${y - 10}" width="10" height="10"/>`,
    text(LEFT + 356, y, "refused", "quiet"),
  ];
}

/** @param {number} at - In ms from the beginning. */
function x(at) {
  return round(LEFT + (at / LENGTH_MS) * (WIDTH - LEFT - RIGHT));
}

/**
 * @param {number} at
 * @param {number} y
 * @param {string | number} content
 * @param {string} kind
 */
function text(at, y, content, kind, anchor = "start") {
  return `<text class="${kind}" x="${round(at)}" y="${round(y)}" text-anchor="${anchor}">${content}</text>`;
}

/** @param {number} number */
function round(number) {
  return Math.round(number * 10) / 10;
}
