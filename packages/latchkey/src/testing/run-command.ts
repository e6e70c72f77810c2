import { runArguments } from "../program.js";
import { testHost } from "./test-host.js";

/** Runs a command inside this process, and returns the printed lines. Rejects as the command does. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const lines: string[] = [];
  const keep = (line: string) => void lines.push(line);
  await runArguments(args, testHost({ env, print: keep, warn: keep }));
  return lines;
}
