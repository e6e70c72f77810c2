import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serverOf } from "./fixture/servers.js";
import type { Measurement } from "./measure/measurement.js";
import { packageFile } from "./package-file.js";
import type { Task } from "./tasks.js";

const WORKER = packageFile("dist/task.worker.js");

/** The measurements of one task. */
export interface TaskAnswer {
  readonly id: string;
  readonly measurements: readonly Measurement[];
}

/**
 * Groups tasks into processes. Each task gets its own, so that no question is slowed down by code compiled for another, and none finds its
 * heap full. A quick run, whose figures mean nothing, does all tasks of a store in one process.
 */
export function groupTasks(tasks: readonly Task[], isQuick: boolean): readonly (readonly Task[])[] {
  if (!isQuick) return tasks.map((task) => [task]);
  const stores = [...new Set(tasks.map(({ store }) => store))];
  return stores.map((store) => tasks.filter((task) => task.store === store));
}

/**
 * Runs tasks of one store in a new process, with a new server if the store needs one.
 *
 * @param onAnswer - Called with the measurements of each task as soon as it is done.
 * @returns The ids of the tasks that failed or came after a failed one. The process has printed why.
 */
export async function runTasks(
  tasks: readonly Task[],
  isQuick: boolean,
  onAnswer: (answer: TaskAnswer) => void,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-bench-"));
  const server = await serverOf(tasks[0]?.store)?.start(folder, { isDurable: !isQuick });
  const breakOff = () => {
    server?.kill();
    removeFolder(folder);
    process.exit(130);
  };
  process.once("SIGINT", breakOff).once("SIGTERM", breakOff);
  try {
    const ids = tasks.map(({ id }) => id);
    const args = [folder, server?.address ?? "", isQuick ? "quick" : "full", ...ids];
    const done = await listen(fork(WORKER, args, { execArgv: ["--expose-gc"] }), onAnswer);
    return ids.filter((id) => !done.has(id));
  } finally {
    process.off("SIGINT", breakOff).off("SIGTERM", breakOff);
    await server?.stop();
    removeFolder(folder);
  }
}

/** Retries, because a server that is ending may still be writing. */
function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

function listen(
  child: ReturnType<typeof fork>,
  onAnswer: (answer: TaskAnswer) => void,
): Promise<ReadonlySet<string>> {
  return new Promise((resolve, reject) => {
    const done = new Set<string>();
    child.on("message", (message) => {
      const answer = message as TaskAnswer;
      done.add(answer.id);
      onAnswer(answer);
    });
    child.on("error", reject);
    child.on("exit", () => resolve(done));
  });
}
