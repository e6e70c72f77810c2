#!/usr/bin/env node
import { readInput } from "./command-line/read-input.js";
import { runProgram } from "./program.js";

const { env, stdout, stderr } = process;

process.exitCode = await runProgram(process.argv.slice(2), {
  env,
  print: (line) => void stdout.write(`${line}\n`),
  warn: (line) => void stderr.write(`latchkey: ${line}\n`),
  terminal: stdout.isTTY ? { columns: stdout.columns, hasColors: !env.NO_COLOR } : null,
  readInput,
});
