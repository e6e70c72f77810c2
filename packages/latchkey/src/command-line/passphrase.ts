import { UsageError } from "./failures.js";
import type { Host } from "./host.js";

/** Minimum characters of a new passphrase. */
const MIN_LENGTH = 12;

/**
 * A passphrase for new encryption: on a terminal it is asked for twice, because a mistyped one opens nothing; from a pipe it is
 * read once.
 *
 * @throws UsageError if it has fewer than 12 characters, or the two differ.
 */
export async function readNewPassphrase(host: Host): Promise<string> {
  const passphrase = await read(host, "Passphrase (it is not shown): ");
  if ([...passphrase].length < MIN_LENGTH)
    throw new UsageError(`the passphrase must have ${MIN_LENGTH} characters or more`);
  if (host.asks && (await read(host, "Repeat the passphrase: ")) !== passphrase)
    throw new UsageError("the passphrases do not match");
  return passphrase;
}

/**
 * The passphrase of something encrypted.
 *
 * @throws UsageError if there is none.
 */
export async function readPassphrase(host: Host): Promise<string> {
  const passphrase = await read(host, "Passphrase (it is not shown): ");
  if (passphrase === "") throw new UsageError("--passphrase needs a passphrase on stdin");
  return passphrase;
}

async function read({ readInput }: Host, prompt: string): Promise<string> {
  return (await readInput(prompt)).replace(/\r?\n$/, "");
}
