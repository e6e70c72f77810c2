import type { StoreKind } from "./fixture/stores.js";
import { STORE_KINDS } from "./fixture/stores.js";
import { GUARDED, QUESTIONS } from "./questions.js";
import { verifyWithAlgorithms } from "./work/algorithms.js";
import { verifyBesideWriter } from "./work/busy-writer.js";
import { verifyCold } from "./work/cold.js";
import { admitExactly } from "./work/concurrency.js";
import { createKeys } from "./work/create.js";
import { verifyBesideDeletion } from "./work/deletion.js";
import { verifyWithFullDurability } from "./work/full-durability.js";
import { growth } from "./work/growth.js";
import { verifyOverHttp } from "./work/http.js";
import { ownedKeys } from "./work/identities.js";
import { importKeys } from "./work/import.js";
import { verifyWithLeases } from "./work/leases.js";
import { importPackages, packageSizes } from "./work/modules.js";
import { readPages } from "./work/page.js";
import { reserveAndSettle } from "./work/reserve.js";
import { verifyInTwoProcesses } from "./work/two-processes.js";
import { verifyWarm } from "./work/verify.js";
import type { Work } from "./work/work.js";
import { verifyWorkingSet } from "./work/working-set.js";

/** The values of `--store`. */
export const TASK_STORES = [...STORE_KINDS, "http"] as const;

/** One of {@link TASK_STORES}. */
export type TaskStore = (typeof TASK_STORES)[number];

/** A task of the benchmark. */
export interface Task {
  readonly id: string;
  /** Null: the task needs no store, and runs whenever no store is chosen. */
  readonly store: TaskStore | null;
  readonly work: Work;
}

/** Every task, in the order of a run. */
export const TASKS: readonly Task[] = [
  ...STORE_KINDS.flatMap(tasksOf),
  { id: "busy/sqlite", store: "sqlite", work: verifyBesideWriter },
  { id: "durable/sqlite", store: "sqlite", work: verifyWithFullDurability },
  { id: "http/verify", store: "http", work: verifyOverHttp },
  { id: "modules", store: null, work: importPackages },
  { id: "tarball", store: null, work: packageSizes },
];

/** The stores and tasks chosen for a run. */
interface Choice {
  readonly stores: readonly TaskStore[];
  /** Prefixes of ids. */
  readonly tasks: readonly string[];
}

/** The chosen tasks. Tasks without a store are chosen only if no store is named. */
export function chosenTasks({ stores, tasks }: Choice): readonly Task[] {
  return TASKS.filter(({ id, store }) => {
    const isOfStore = stores.length === 0 || (store !== null && stores.includes(store));
    return isOfStore && (tasks.length === 0 || tasks.some((start) => id.startsWith(start)));
  });
}

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
    { id: `exact/${store}`, store, work: admitExactly(store) },
    { id: `algorithms/${store}`, store, work: verifyWithAlgorithms(store) },
    { id: `reserve/${store}`, store, work: reserveAndSettle(store) },
    { id: `cold/${store}`, store, work: verifyCold(store) },
    { id: `working-set/${store}`, store, work: verifyWorkingSet(store) },
    ...(store === "memory"
      ? []
      : [{ id: `processes/${store}`, store, work: verifyInTwoProcesses(store) }]),
    { id: `leases/${store}`, store, work: verifyWithLeases(store) },
    { id: `create/${store}`, store, work: createKeys(store) },
    { id: `import/${store}`, store, work: importKeys(store) },
    { id: `page/${store}`, store, work: readPages(store) },
    { id: `growth/${store}`, store, work: growth(store) },
    { id: `owned/${store}`, store, work: ownedKeys(store) },
    { id: `deletion/${store}`, store, work: verifyBesideDeletion(store) },
  ];
}

/** @throws RangeError if no task has the id. */
export function taskOf(id: string): Task {
  const task = TASKS.find((one) => one.id === id);
  if (task === undefined) throw new RangeError(`no such task: ${id}`);
  return task;
}
