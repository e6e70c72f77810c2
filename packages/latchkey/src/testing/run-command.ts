import { type Command, readArguments } from "../command-line.js";

/** Runs a command inside this process and answers the lines it printed; rejects as the command does. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const lines: string[] = [];
  await command.run(readArguments(args, command), {
    env,
    print: (line) => lines.push(line),
    warn: (line) => lines.push(line),
  });
  return lines;
}
