import { LatchkeyError } from "@latchkey/core";

/** A wrong argument: one line that names it and its bound. The program exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The answer is no, and has been printed. The program exits with 1 and prints nothing more. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** Turns an error about an argument into one about what was typed: `called` instead of `name`. */
export function asUsageError<Value>(
  read: () => Value,
  name: string | RegExp = "",
  called = "",
): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message.replace(name, called));
    throw error;
  }
}

/** The same error with another message. */
export function reworded(error: LatchkeyError, message: string): LatchkeyError {
  const { code, issues, details, outcome, reason } = error;
  return new LatchkeyError(code, message, {
    issues,
    details,
    cause: error,
    ...(outcome !== undefined && { outcome }),
    ...(reason !== undefined && { reason }),
  });
}
