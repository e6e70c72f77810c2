import type { Command } from "commander";
import type { Host } from "./host.js";

/** The end of every command's help. */
export const HELP_END = `
Environment:
  LATCHKEY_STORE        default of --store
  LATCHKEY_WORKSPACE    default of --workspace
  LATCHKEY_VAULT_KEY    key for recoverable secrets: 32 bytes in base64, or a list
                        id:base64,id:base64, of which the first is current
  LATCHKEY_TOKEN_KEY    seeds that tokens are signed with: 32 bytes, same forms
  LATCHKEY_TOKEN_ISSUER issuer of those tokens (default: the id of the workspace)
  LATCHKEY_PEPPER       secret that hashes are keyed with: 32 to 64 bytes, same forms
  PORT, LATCHKEY_HOST, LATCHKEY_LOG
                        serve: defaults of --port, --host and --log
  NO_COLOR              tables without colours

Exit codes: 0 done, 1 failed or refused, 2 wrong arguments.`;

/** An example for the help of a command. */
export function example(...lines: readonly string[]): string {
  return `\nExample:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** Adds a command to the program, or to a group of commands. */
export type AddCommand = (parent: Command, host: Host) => void;

/** A command with subcommands. The help of each shows its own examples, and those of the group if it has none. */
export function groupCommand(
  name: string,
  description: string,
  examples: readonly string[],
  commands: readonly AddCommand[],
): AddCommand {
  return (program, host) => {
    const group = program
      .command(name)
      .description(description)
      .helpCommand(false)
      .addHelpText("afterAll", ({ command }) => {
        const own = examples.filter((line) => `${line} `.includes(`${name} ${command.name()} `));
        return example(...(own.length > 0 ? own : examples));
      });
    for (const add of commands) add(group, host);
  };
}
