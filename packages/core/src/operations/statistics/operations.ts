import type { Granularity, VerificationBucket } from "../../statistics/buckets.js";
import type { PrunedCount } from "../audit-log/operations.js";
import type { IdentityReference } from "../identities/reference.js";

/** Verifications of every bucket that the range touches, in ascending order. */
export interface Verifications {
  /** In ascending order of time, the empty ones too. */
  readonly verifications: readonly VerificationBucket[];
}

/** Operations on the counts of verifications. */
export interface StatisticsOperations {
  /**
   * How often a key, or the keys of an identity or of an API, were verified, by verdict: in buckets of UTC, each as a whole,
   * also where the range cuts it. What this process has counted is written first; what others have counted may be missing for a
   * few seconds. Secrets that no key has are not counted.
   *
   * @param input - Exactly one of `keyId`, `identityId` (or `externalId`) and `apiId`.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, identity or API; `BAD_REQUEST` for a range that is
   * empty or too long for its granularity.
   * @example
   * const { verifications } = await latchkey.getVerifications({ keyId, granularity: "day" });
   */
  getVerifications(
    input: IdentityReference & {
      /** Id of the key. */
      readonly keyId?: string | undefined;
      /** Deprecated name of `externalId`, which wins. */
      readonly ownerId?: string | undefined;
      /** Id of the API. */
      readonly apiId?: string | undefined;
      /** Unix epoch ms or a `Date`, included: 30 days before `end` unless given. */
      readonly start?: number | Date | undefined;
      /** Unix epoch ms or a `Date`, not included: now unless given. */
      readonly end?: number | Date | undefined;
      /** Length of a bucket in UTC, `day` unless given. `hour` over at most 31 days, `day` over 366 days, `month` over 120 months. */
      readonly granularity?: Granularity | undefined;
    },
  ): Promise<Verifications>;
  /**
   * Deletes the counters of verifications of all days of UTC that were over at an instant. It works in bounded steps: while it
   * runs, other calls get through. `lastUsedAt` of keys stays. A counter is one for each key, API or identity, hour and verdict.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.pruneVerifications({ before: latchkey.now() - 400 * 86_400_000 });
   */
  pruneVerifications(input: {
    /** An instant, Unix epoch ms or a `Date`, not later than now: counters of days of UTC that were over by then are deleted. */
    readonly before: number | Date;
  }): Promise<PrunedCount>;
}
