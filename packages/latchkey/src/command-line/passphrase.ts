import { UsageError } from "./failures.js";
import type { Host } from "./host.js";

/** Fewest characters of a new passphrase. */
const MIN_LENGTH = 12;

/**
 * A passphrase for what is encrypted now: asked for twice on a terminal, since a mistyped one opens nothing, and read once from a pipe.
 *
 * @throws UsageError where it has fewer than 12 characters, or the second is another.
 */
export async function readNewPassphrase(host: Host): Promise<string> {
  const passphrase = await read(host, "Passphrase (it is not shown): ");
  if ([...passphrase].length < MIN_LENGTH)
    throw new UsageError(`the passphrase must have ${MIN_LENGTH} characters or more`);
  if (host.asks && (await read(host, "The same passphrase again: ")) !== passphrase)
    throw new UsageError("the two passphrases are not the same");
  return passphrase;
}

/** The passphrase of what is encrypted already. @throws UsageError where there is none. */
export async function readPassphrase(host: Host): Promise<string> {
  const passphrase = await read(host, "Passphrase (it is not shown): ");
  if (passphrase === "") throw new UsageError("--passphrase needs one on stdin");
  return passphrase;
}

async function read({ readInput }: Host, prompt: string): Promise<string> {
  return (await readInput(prompt)).replace(/\r?\n$/, "");
}
