import { UsageError } from "./failures.js";
import type { Host } from "./host.js";

/** Where a secret comes from, for help and complaints. */
export const ON_STDIN = "- reads the secret from stdin";

const PROMPT = "Paste the secret and press Enter (it is not shown): ";

/** More than any key: a text that is longer must not be hashed. */
const MAX_LENGTH = 512;

/** Reads the secret that `-` stands for. @throws UsageError for an argument that is something else. */
export async function readSecret(argument: string, { readInput }: Host): Promise<string> {
  if (argument !== "-") throw secretInArguments();
  const secret = (await readInput(PROMPT)).trim();
  if (secret.length >= 1 && secret.length <= MAX_LENGTH) return secret;
  throw new UsageError(`the secret on stdin must be 1 to ${MAX_LENGTH} characters`);
}

/** What is said of a URL with a password among the arguments. It is taken all the same: programs that exist give one. */
export const PASSWORD_IN_ARGUMENTS =
  "a password in an argument is seen by ps and kept by the shell's history: set LATCHKEY_STORE, or name a variable that holds the URL (--store-env, --from-env, --to-env)";

/** A secret must not be an argument: other users of the machine see those. */
export function secretInArguments(): UsageError {
  return new UsageError(
    "a secret must not be an argument, where ps and the shell's history show it: give - and pass it on stdin",
  );
}
