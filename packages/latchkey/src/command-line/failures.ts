import { LatchkeyError } from "@latchkey/core";

/** A wrong argument: one line that names it and its bound. The program ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The answer to what was asked is no, and is printed already. The program ends with exit code 1 and says no more. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** Turns the complaint about an argument into one about what was typed: `called` is what it names as `name`. */
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

/** An error with another message, and all else as it is. */
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
