import { parseArgs } from "node:util";
import { chosenTasks, TASK_STORES, type TaskStore } from "./tasks.js";

/** How a run is asked for on the command line. */
export interface Options {
  /** Only what is about these; all of it where none is named. */
  readonly stores: readonly TaskStore[];
  /** Only tasks whose id begins with one of these; all of them where none is named. */
  readonly tasks: readonly string[];
  readonly isQuick: boolean;
  /** Whether a missed goal fails the run. */
  readonly isCheck: boolean;
  /** Whether the README, its charts and results.json are written anew. */
  readonly isWrite: boolean;
  /** A file for the figures, or null. */
  readonly json: string | null;
}

export const USAGE = `npm run bench [-- options]
  --store memory|sqlite|redis|postgres|http
                                     only what is about this store; may be given several times
  --task <start of an id>            only these tasks, such as verify/sqlite; may be given several times
  --quick                            some minutes, for the correctness of the benchmark: its figures mean nothing
  --check                            exits 1 where a goal is missed
  --json <file>                      writes the figures
  --write                            writes the README, its charts and results.json; figures not measured stay`;

/** @throws TypeError saying what is wrong with the arguments. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string", multiple: true },
      task: { type: "string", multiple: true },
      quick: { type: "boolean" },
      check: { type: "boolean" },
      write: { type: "boolean" },
      json: { type: "string" },
    },
  });
  const stores = (values.store ?? []).map(storeOf);
  const tasks = (values.task ?? []).map((start) => startOf(start, stores));
  const { quick = false, check = false, write = false } = values;
  if (quick && (check || write))
    throw new TypeError("the figures of --quick mean nothing: no --check and no --write with it");
  return {
    stores,
    tasks,
    isQuick: quick,
    isCheck: check,
    isWrite: write,
    json: values.json ?? null,
  };
}

function storeOf(name: string): TaskStore {
  const store = TASK_STORES.find((one) => one === name);
  if (store === undefined) throw new TypeError(`--store must be one of ${TASK_STORES.join(", ")}`);
  return store;
}

/** A misspelt start would choose nothing: a run that meets every goal and finds every answer right. */
function startOf(start: string, stores: readonly TaskStore[]): string {
  if (chosenTasks({ stores, tasks: [start] }).length === 0)
    throw new TypeError(`no task begins with ${JSON.stringify(start)}`);
  return start;
}
