import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A running `file.worker.ts`. */
export interface Worker {
  /** Resolves when the worker waits for `go`. */
  readonly ready: Promise<void>;
  readonly go: () => void;
  readonly kill: () => void;
  /** Everything it printed, once it has ended. Rejects if it failed by itself. */
  readonly lines: Promise<readonly string[]>;
  /** Resolves when it has printed that many lines since it was ready. */
  readonly said: (count: number) => Promise<void>;
}

/** Starts a process that runs the compiled package. */
export function startWorker(task: string, path: string, argument = ""): Worker {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      fileURLToPath(new URL("../../dist/testing/file.worker.js", import.meta.url)),
      task,
      path,
      argument,
    ],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("no pipes");
  const said: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let isReady: () => void;
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  let failure = "";
  stderr.on("data", (text) => {
    failure += text;
  });
  stdin.on("error", () => {});
  createInterface({ input: stdout }).on("line", (line) => {
    if (line === "ready") return isReady();
    said.push(line);
    for (const { count, resolve } of waiting) if (said.length >= count) resolve();
  });
  const lines = new Promise<readonly string[]>((resolve, reject) => {
    child.once("close", (code, signal) => {
      for (const { resolve: stop } of waiting) stop();
      if (code === 0 || signal === "SIGKILL") resolve(said);
      else reject(new Error(`the worker failed: ${failure}`));
    });
  });
  return {
    ready,
    go: () => stdin.write("go\n"),
    kill: () => child.kill("SIGKILL"),
    lines,
    said: (count) =>
      new Promise((resolve) => {
        if (said.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}
