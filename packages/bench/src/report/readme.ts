import { quartiles } from "../measure/statistics.js";
import type { DatedMeasurement } from "../results.js";
import type { Chart } from "./charts.js";
import { asMarkdown, type Table } from "./table.js";

const BEGIN = "<!-- begin: written by npm run bench -- --write -->";
const END = "<!-- end -->";

/**
 * Returns the README with the tables and charts of a run between its markers. Everything else stays.
 *
 * @throws Error if the markers are missing.
 */
export function withResults(
  readme: string,
  measurements: readonly DatedMeasurement[],
  tables: readonly Table[],
  charts: readonly Chart[],
): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END, begin);
  if (begin === -1 || end === -1) throw new Error(`the README has no "${BEGIN}" and "${END}"`);
  const images = charts.map(({ file, title }) => `![${title}](charts/${file})\n`);
  const body = [conditions(measurements), ...images, ...tables.map(asMarkdown)].join("\n");
  return `${readme.slice(0, begin + BEGIN.length)}\n\n${body}\n${readme.slice(end)}`;
}

/** When and on which machine it was measured, and the machine's load. */
function conditions(measurements: readonly DatedMeasurement[]): string {
  const dates = measurements.map(({ at }) => at).sort();
  const first = dates[0] ?? "";
  const last = dates.at(-1) ?? "";
  const machines = [...new Set(measurements.map(({ machine }) => machine))];
  const { p25, median, p75 } = quartiles(measurements.map(({ load }) => load));
  const when = first === last ? first : `${first} to ${last}`;
  return (
    `Measured ${when} on ${machines.join("; ")}. Load of the machine while it measured, the benchmark included: median ` +
    `${median.toFixed(1)}, quartiles ${p25.toFixed(1)} and ${p75.toFixed(1)}.\n`
  );
}
