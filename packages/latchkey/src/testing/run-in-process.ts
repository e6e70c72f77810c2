import type { Host } from "../command-line/host.js";
import { runProgram } from "../program.js";
import type { Ended } from "./ended.js";
import { testHost } from "./test-host.js";

/** Runs the program inside this process, and returns its output and exit code. It must end by itself. */
export async function runInProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  parts: Partial<Host> = {},
): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  const host = testHost({
    env,
    print: (line) => {
      stdout += `${line}\n`;
    },
    warn: (line) => {
      stderr += `latchkey: ${line}\n`;
    },
    ...parts,
  });
  const exitCode = await runProgram(args, host);
  return { exitCode, stdout, stderr };
}
