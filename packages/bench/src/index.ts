import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type GoalResult, judgeGoals } from "./goals.js";
import { type Options, parseOptions, USAGE } from "./options.js";
import { chartsOf } from "./report/charts.js";
import { withResults } from "./report/readme.js";
import { asText } from "./report/table.js";
import { boundText, tablesOf } from "./report/tables.js";
import { type DatedMeasurement, merged, readResults } from "./results.js";
import { run } from "./run.js";

const inPackage = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

const RESULTS = inPackage("results.json");

const options = optionsOrExit();
const { measurements, failed } = await run(options, (some) => {
  if (options.isWrite) writeFileSync(RESULTS, asJson(merged(readResults(RESULTS), some)));
});
const goals = judgeGoals(measurements);
if (!options.isQuick) process.stdout.write(tablesOf(measurements, goals).map(asText).join("\n"));
else if (failed.length === 0) process.stdout.write("every answer was right\n");
if (options.json !== null) writeFileSync(options.json, asJson(measurements));
if (options.isWrite) writeReport(readResults(RESULTS));
if (options.isCheck) check(goals, options);
for (const id of failed) process.stderr.write(`failed: ${id}\n`);
if (failed.length > 0) process.exitCode = 1;

function optionsOrExit(): Options {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    process.exit(2);
  }
}

/** Tables and charts, for whoever reads the repository. */
function writeReport(all: readonly DatedMeasurement[]): void {
  const charts = chartsOf(all);
  mkdirSync(inPackage("charts"), { recursive: true });
  for (const { file, svg } of charts) writeFileSync(inPackage(`charts/${file}`), svg);
  const readme = inPackage("README.md");
  const tables = tablesOf(all, judgeGoals(all));
  writeFileSync(readme, withResults(readFileSync(readme, "utf8"), all, tables, charts));
}

/** One line for each measurement: a new run changes the lines of what it measured. */
function asJson(all: readonly DatedMeasurement[]): string {
  return `[\n${all.map((one) => JSON.stringify(one)).join(",\n")}\n]\n`;
}

/** Fails where a goal is missed; in a run of everything also where one was not measured. */
function check(results: readonly GoalResult[], { stores, tasks }: Options): void {
  const isWhole = stores.length === 0 && tasks.length === 0;
  const missed = results.filter(({ isMet, figure }) => !isMet && (isWhole || figure !== null));
  for (const { goal, figure } of missed) {
    const measured = figure === null ? "not measured" : figure.toPrecision(3);
    process.stderr.write(`missed ${goal.id} ${goal.work}: ${measured}, ${boundText(goal.bound)}\n`);
  }
  if (missed.length > 0) process.exitCode = 1;
}
