import type { StoreKind } from "./fixture/stores.js";
import { STORE_KINDS } from "./fixture/stores.js";
import { GUARDED, QUESTIONS } from "./questions.js";
import { verifyWarm } from "./work/verify.js";
import type { Work } from "./work/work.js";

/** What `--store` chooses between. */
export const TASK_STORES = [...STORE_KINDS, "http"] as const;

/** One of {@link TASK_STORES}. */
export type TaskStore = (typeof TASK_STORES)[number];

/** A piece of work with what it needs. */
export interface Task {
  readonly id: string;
  /** Null: it is about no store, and done in every run of all. */
  readonly store: TaskStore | null;
  readonly work: Work;
  /** Largest heap of its process in MiB, where the usual one is too small. */
  readonly heapMb?: number;
}

/** Every task, in the order of a run. */
export const TASKS: readonly Task[] = STORE_KINDS.flatMap(tasksOf);

function tasksOf(store: StoreKind): readonly Task[] {
  return [
    ...QUESTIONS.map((question) => ({
      id: `verify/${store}/${question.id}/1`,
      store,
      work: verifyWarm(store, question, 1),
    })),
    {
      id: `verify/${store}/${GUARDED.id}/64`,
      store,
      work: verifyWarm(store, GUARDED, 64),
    },
  ];
}

/** @throws RangeError for an id that no task has. */
export function taskOf(id: string): Task {
  const task = TASKS.find((one) => one.id === id);
  if (task === undefined) throw new RangeError(`no such task: ${id}`);
  return task;
}
