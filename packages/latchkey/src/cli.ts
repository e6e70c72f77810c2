import { pauser } from "./command-line/pauser.js";
import { readInput, readPieces } from "./command-line/read-input.js";
import { runProgram } from "./program.js";

const { env, stdout, stderr } = process;

let isWritable = true;
let isToKeepGoing = false;
/** Minimum exit code: output that cannot be written is a failure. */
let leastExitCode = 0;

stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (!isWritable) return;
  isWritable = false;
  if (code !== "EPIPE") {
    leastExitCode = 1;
    // In case the work is already done.
    process.exitCode ||= leastExitCode;
    stderr.write(`latchkey: stdout cannot be written to (${code})\n`);
  } else if (isToKeepGoing) {
    stderr.write("latchkey: stdout was closed: nothing more is printed\n");
  }
  // The reader, such as head, has seen enough.
  if (!isToKeepGoing) process.exit(leastExitCode);
});

// Nobody can be told any more: without a listener, the error would end the program in the middle of its work.
stderr.on("error", () => undefined);

const exitCode = await runProgram(process.argv.slice(2), {
  env,
  print: (line) => void (isWritable && stdout.write(`${line}\n`)),
  // The callback of a write runs before the "error" event of the stream.
  printed: () => new Promise((resolve) => void stdout.write("", () => void setImmediate(resolve))),
  keepGoing: () => {
    isToKeepGoing = true;
  },
  warn: (line) => void stderr.write(`latchkey: ${line}\n`),
  terminal: stdout.isTTY ? { columns: stdout.columns, hasColors: !env.NO_COLOR } : null,
  asks: process.stdin.isTTY,
  readInput,
  readPieces,
  pause: pauser(process),
});
process.exitCode = Math.max(exitCode, leastExitCode);
