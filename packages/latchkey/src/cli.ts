#!/usr/bin/env node
import { runProgram } from "./program.js";

process.exitCode = await runProgram(process.argv.slice(2), {
  env: process.env,
  print: (line) => void process.stdout.write(`${line}\n`),
  warn: (line) => void process.stderr.write(`latchkey: ${line}\n`),
});
