import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Tally } from "./tally.js";

const PROGRAM = fileURLToPath(new URL("index.js", import.meta.url));

/** Schedules make many short-lived objects: with a larger young generation, the garbage collector runs less often. */
const NODE_OPTIONS = ["--max-semi-space-size=32"];

/** Prefix of the line in which a worker prints its tally. */
export const TALLY = "tally ";

/** Runs schedules in several processes, each from a seed of its own. `argsOf`: the arguments of each process. */
export async function runWorkers(
  count: number,
  argsOf: (worker: number) => readonly string[],
): Promise<readonly Tally[]> {
  const workers = Array.from({ length: count }, (_, worker) => runWorker(argsOf(worker)));
  return await Promise.all(workers);
}

function runWorker(args: readonly string[]): Promise<Tally> {
  const all = [...NODE_OPTIONS, PROGRAM, ...args, "--worker"];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, all, { maxBuffer: 2 ** 30 }, (error, stdout, stderr) => {
      const lines = stdout.trimEnd().split("\n");
      const last = lines.pop() ?? "";
      process.stdout.write(lines.map((line) => `${line}\n`).join(""));
      if (last.startsWith(TALLY)) resolve(JSON.parse(last.slice(TALLY.length)) as Tally);
      else reject(error ?? new Error(stderr));
    });
  });
}
