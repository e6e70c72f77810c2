import { runProgram } from "../program.js";
import type { Ended } from "./ended.js";

/** Runs the program inside this process, and answers what it would have left behind. It must end by itself. */
export async function runInProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  const exitCode = await runProgram(args, {
    env,
    print: (line) => {
      stdout += `${line}\n`;
    },
    warn: (line) => {
      stderr += `latchkey: ${line}\n`;
    },
  });
  return { exitCode, stdout, stderr };
}
