import { SERVERS } from "./fixture/servers.js";
import { STORE_TITLES } from "./fixture/stores.js";
import type { Options } from "./options.js";
import { type DatedMeasurement, dated } from "./results.js";
import { groupTasks, runTasks } from "./run-tasks.js";
import { chosenTasks, type Task } from "./tasks.js";

/** The result of a run. `failed`: ids of tasks that got a wrong answer or did not finish. */
export interface RunResult {
  readonly measurements: readonly DatedMeasurement[];
  readonly failed: readonly string[];
}

/**
 * Runs the chosen tasks, one process after the other, and prints the progress to standard error.
 *
 * @param onMeasured - Called with the measurements of each task, so that a long run that breaks off keeps its results.
 */
export async function run(
  options: Options,
  onMeasured: (measurements: readonly DatedMeasurement[]) => void,
): Promise<RunResult> {
  const tasks = runnable(chosenTasks(options));
  const measurements: DatedMeasurement[] = [];
  const failed: string[] = [];
  let done = 0;
  let since = performance.now();
  for (const group of groupTasks(tasks, options.isQuick)) {
    const missing = await runTasks(group, options.isQuick, (answer) => {
      done += 1;
      const seconds = ((performance.now() - since) / 1_000).toFixed(1);
      since = performance.now();
      const count = String(done).padStart(3);
      process.stderr.write(`${count} of ${tasks.length}  ${answer.id} (${seconds} s)\n`);
      const some = answer.measurements.map(dated);
      measurements.push(...some);
      onMeasured(some);
    });
    failed.push(...missing);
  }
  return { measurements, failed };
}

/** The tasks for which a server is installed. Prints a line for each store that is left out. */
function runnable(tasks: readonly Task[]): readonly Task[] {
  const missing = (["redis", "postgres"] as const).filter(
    (kind) => tasks.some(({ store }) => store === kind) && !SERVERS[kind].isInstalled(),
  );
  for (const kind of missing) {
    const { program } = SERVERS[kind];
    process.stderr.write(`no ${program} found: nothing is measured on ${STORE_TITLES[kind]}\n`);
  }
  return tasks.filter(({ store }) => !missing.some((kind) => kind === store));
}
