import { setTimeout } from "node:timers/promises";
import { readInput } from "./command-line/read-input.js";
import { runProgram } from "./program.js";

const { env, stdout, stderr } = process;

// The reader, such as head, has seen enough.
stdout.on("error", ({ code }: NodeJS.ErrnoException) => process.exit(code === "EPIPE" ? 0 : 1));

process.exitCode = await runProgram(process.argv.slice(2), {
  env,
  print: (line) => void stdout.write(`${line}\n`),
  warn: (line) => void stderr.write(`latchkey: ${line}\n`),
  terminal: stdout.isTTY ? { columns: stdout.columns, hasColors: !env.NO_COLOR } : null,
  asks: process.stdin.isTTY,
  readInput,
  pause,
});

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
