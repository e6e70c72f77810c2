import { LatchkeyError } from "../errors.js";

/**
 * What an operation does once it has written something. Where the store stays away then, the change has happened, or a part of it:
 * that must not be told as a change that is known not to have happened.
 *
 * @throws LatchkeyError `STORE_UNAVAILABLE` with the outcome `unknown`; whatever else the work throws.
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
