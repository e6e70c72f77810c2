import { SERVERS } from "./fixture/servers.js";
import { STORE_TITLES } from "./fixture/stores.js";
import type { Options } from "./options.js";
import { type DatedMeasurement, dated } from "./results.js";
import { groupTasks, runTasks } from "./run-tasks.js";
import { chosenTasks, type Task } from "./tasks.js";

/** What a run came to. `failed`: the ids of tasks whose answers were wrong, or that broke off. */
export interface RunResult {
  readonly measurements: readonly DatedMeasurement[];
  readonly failed: readonly string[];
}

/**
 * Does what the options ask for, one process after the other, and says how far it is on the standard error.
 *
 * @param onMeasured - Called with what each task has measured: a long run that breaks off has not been for nothing.
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

/** Those whose servers are installed. What is left out is said, where it was chosen. */
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
