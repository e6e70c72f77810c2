import { LatchkeyError } from "../errors.js";

/**
 * Runs work that follows a write. If the store fails now, the change has happened, at least in part, so the error must not say that it is
 * known not to have happened.
 *
 * @throws LatchkeyError `STORE_UNAVAILABLE` with the outcome `unknown`; any other error of the work.
 */
export async function afterWriting<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LatchkeyError) || error.code !== "STORE_UNAVAILABLE") throw error;
    const { code, message, reason } = error;
    throw new LatchkeyError(code, message, {
      cause: error,
      outcome: "unknown",
      ...(reason !== undefined && { reason }),
    });
  }
}
