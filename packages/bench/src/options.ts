import { parseArgs } from "node:util";
import { chosenTasks, TASK_STORES, type TaskStore } from "./tasks.js";

/** The parsed command line. */
export interface Options {
  /** Only tasks of these stores; empty: all. */
  readonly stores: readonly TaskStore[];
  /** Only tasks with ids that begin with one of these; empty: all. */
  readonly tasks: readonly string[];
  readonly isQuick: boolean;
  /** Whether a missed goal fails the run. */
  readonly isCheck: boolean;
  /** Whether to update the README, its charts and results.json. */
  readonly isWrite: boolean;
  /** File to write the figures to; null: none. */
  readonly json: string | null;
}

export const USAGE = `npm run bench [-- options]
  --store memory|sqlite|redis|postgres|http
                                     only tasks of this store; may be given several times
  --task <start of an id>            only these tasks, such as verify/sqlite; may be given several times
  --quick                            a few minutes, to check that every answer is right: its figures mean nothing
  --check                            exits with 1 if a goal is missed
  --json <file>                      writes the figures
  --write                            writes the README, its charts and results.json; figures not measured stay`;

/** @throws TypeError that says what is wrong with the arguments. */
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

/** Refuses a prefix that matches no task: such a run would do nothing, and so succeed. */
function startOf(start: string, stores: readonly TaskStore[]): string {
  if (chosenTasks({ stores, tasks: [start] }).length === 0)
    throw new TypeError(`no task begins with ${JSON.stringify(start)}`);
  return start;
}
