import { setTimeout } from "node:timers/promises";
import { readInput, readLines } from "./command-line/read-input.js";
import { runProgram } from "./program.js";

const { env, stdout, stderr } = process;

let isWritable = true;
let isToKeepGoing = false;
/** The exit code at least: what could not be printed is a failure. */
let leastExitCode = 0;

stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (!isWritable) return;
  isWritable = false;
  if (code !== "EPIPE") {
    leastExitCode = 1;
    // Where the work is done already.
    process.exitCode ||= leastExitCode;
    stderr.write(`latchkey: stdout cannot be written to (${code})\n`);
  } else if (isToKeepGoing) {
    stderr.write("latchkey: stdout was closed: nothing more is printed\n");
  }
  // The reader, such as head, has seen enough.
  if (!isToKeepGoing) process.exit(leastExitCode);
});

const exitCode = await runProgram(process.argv.slice(2), {
  env,
  print: (line) => void (isWritable && stdout.write(`${line}\n`)),
  // A failure is told to the write first, and to the stream after it.
  printed: () => new Promise((resolve) => void stdout.write("", () => void setImmediate(resolve))),
  keepGoing: () => {
    isToKeepGoing = true;
  },
  warn: (line) => void stderr.write(`latchkey: ${line}\n`),
  terminal: stdout.isTTY ? { columns: stdout.columns, hasColors: !env.NO_COLOR } : null,
  asks: process.stdin.isTTY,
  readInput,
  readLines,
  pause,
});
process.exitCode = Math.max(exitCode, leastExitCode);

/** Resolves after a while, or at the first signal to stop. */
async function pause(ms: number): Promise<boolean> {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  process.on("SIGTERM", stop).on("SIGINT", stop);
  try {
    return await setTimeout(ms, true, { signal: stopped.signal }).catch(() => false);
  } finally {
    process.off("SIGTERM", stop).off("SIGINT", stop);
  }
}
