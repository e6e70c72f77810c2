import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type GoalResult, judgeGoals } from "./goals.js";
import { type Options, parseOptions, USAGE } from "./options.js";
import { packageFile } from "./package-file.js";
import { chartsOf } from "./report/charts.js";
import { withResults } from "./report/readme.js";
import { asText } from "./report/table.js";
import { boundText, tablesOf } from "./report/tables.js";
import { type DatedMeasurement, merged, readResults } from "./results.js";
import { run } from "./run.js";

const RESULTS = packageFile("results.json");

const options = optionsOrExit();
const { measurements, failed } = await run(options, (some) => {
  if (options.isWrite) writeFileSync(RESULTS, asJson(merged(readResults(RESULTS), some)));
});
// A run of some tasks is judged only by the goals that it measured. In a run of everything, goals that were not measured count as missed.
const isWhole = options.stores.length === 0 && options.tasks.length === 0;
const goals = judgeGoals(measurements).filter(({ figure }) => isWhole || figure !== null);
if (!options.isQuick) process.stdout.write(tablesOf(measurements, goals).map(asText).join("\n"));
else if (failed.length === 0) process.stdout.write("every answer was right\n");
if (options.json !== null) writeFileSync(options.json, asJson(measurements));
if (options.isWrite) writeReport(readResults(RESULTS));
if (options.isCheck) check(goals);
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

/** Writes the tables and charts into the README and its folder. */
function writeReport(all: readonly DatedMeasurement[]): void {
  const charts = chartsOf(all);
  mkdirSync(packageFile("charts"), { recursive: true });
  for (const { file, svg } of charts) writeFileSync(packageFile(`charts/${file}`), svg);
  const readme = packageFile("README.md");
  const tables = tablesOf(all, judgeGoals(all));
  writeFileSync(readme, withResults(readFileSync(readme, "utf8"), all, tables, charts));
}

/** One line for each measurement, so a new run changes only the lines that it measured. */
function asJson(all: readonly DatedMeasurement[]): string {
  return `[\n${all.map((one) => JSON.stringify(one)).join(",\n")}\n]\n`;
}

/** Reports missed goals, and fails the run if there are any. */
function check(results: readonly GoalResult[]): void {
  const missed = results.filter(({ isMet }) => !isMet);
  for (const { goal, figure } of missed) {
    const measured = figure === null ? "not measured" : figure.toPrecision(3);
    process.stderr.write(`missed ${goal.id} ${goal.work}: ${measured}, ${boundText(goal.bound)}\n`);
  }
  if (missed.length > 0) process.exitCode = 1;
}
