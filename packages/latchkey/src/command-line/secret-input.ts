import { UsageError } from "./failures.js";
import type { Host } from "./host.js";

/** Where a secret comes from, for help and complaints. */
export const ON_STDIN = "- reads the secret from stdin";

/** More than any key: a text that is longer must not be hashed. */
const MAX_LENGTH = 512;

/** Reads the secret that `-` stands for. @throws UsageError for an argument that is something else. */
export async function readSecret(argument: string, { readInput }: Host): Promise<string> {
  if (argument !== "-") throw secretInArguments();
  const secret = (await readInput()).trim();
  if (secret.length >= 1 && secret.length <= MAX_LENGTH) return secret;
  throw new UsageError(`the secret on stdin must be 1 to ${MAX_LENGTH} characters`);
}

/** A secret must not be an argument: other users of the machine see those. */
export function secretInArguments(): UsageError {
  return new UsageError(
    "a secret must not be an argument, where ps and the shell's history show it: give - and pass it on stdin",
  );
}
