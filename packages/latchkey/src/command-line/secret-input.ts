import { UsageError } from "./failures.js";
import type { Host } from "./host.js";

/** Where a secret comes from, for help and error messages. */
export const ON_STDIN = "- reads the secret from stdin";

const PROMPT = "Paste the secret and press Enter (it is not shown): ";

/** Maximum characters: longer than any key. Longer input is not hashed. */
const MAX_LENGTH = 512;

/**
 * Reads the secret that `-` stands for.
 *
 * @throws UsageError for any other argument.
 */
export async function readSecret(argument: string, { readInput }: Host): Promise<string> {
  if (argument !== "-") throw secretInArguments();
  const secret = (await readInput(PROMPT)).trim();
  if (secret.length >= 1 && secret.length <= MAX_LENGTH) return secret;
  throw new UsageError(`the secret on stdin must be 1 to ${MAX_LENGTH} characters`);
}

/** The warning about a URL with a password in the arguments. It is accepted all the same, because existing programs use one. */
export const PASSWORD_IN_ARGUMENTS =
  "a password in an argument is visible to ps and kept in the shell's history: set LATCHKEY_STORE, or name a variable that holds the URL (--store-env, --from-env, --to-env)";

/** A secret must not be an argument, because other users of the machine can see arguments. */
export function secretInArguments(): UsageError {
  return new UsageError(
    "a secret must not be an argument, where ps and the shell's history show it: give - and pass it on stdin",
  );
}
