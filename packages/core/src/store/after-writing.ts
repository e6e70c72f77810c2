import { hasCode, LatchkeyError } from "../errors.js";

/**
 * Runs work that follows a write. If the store fails now, the change has happened, at least in part: the error's outcome is `unknown`.
 *
 * @param hasWritten - Whether anything was written.
 */
export async function afterWriting<Result>(
  work: () => Result | Promise<Result>,
  hasWritten: boolean = true,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!hasWritten || !hasCode(error, "STORE_UNAVAILABLE") || error.outcome === "unknown")
      throw error;
    const { code, message, reason } = error;
    throw new LatchkeyError(code, message, {
      cause: error,
      outcome: "unknown",
      ...(reason !== undefined && { reason }),
    });
  }
}
