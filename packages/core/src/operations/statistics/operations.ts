import type { PrunedCount } from "../audit-log/prune-audit-events.js";
import type { GetVerificationsInput, Verifications } from "./get-verifications.js";
import type { PruneVerificationsInput } from "./prune-verifications.js";

/** Operations on the counts of verifications. */
export interface StatisticsOperations {
  /**
   * How often a key, or the keys of an identity or of an API, were verified, by verdict: in buckets of UTC, each as a whole,
   * also where the range cuts it. What this process has counted is written first; what others have counted may be missing for a
   * few seconds. Secrets that no key has are not counted.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, identity or API; `BAD_REQUEST` for a range that is
   * empty or too long for its granularity.
   * @example
   * const { verifications } = await latchkey.getVerifications({ keyId, granularity: "day" });
   */
  getVerifications(input: GetVerificationsInput): Promise<Verifications>;
  /**
   * Deletes the counters of verifications of all days of UTC that were over at an instant. It works in bounded steps: while it
   * runs, other calls get through. `lastUsedAt` of keys stays. A counter is one for each key, API or identity, hour and verdict.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.pruneVerifications({ before: latchkey.now() - 400 * 86_400_000 });
   */
  pruneVerifications(input: PruneVerificationsInput): Promise<PrunedCount>;
}
