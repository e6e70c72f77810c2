import { z } from "zod";
import { badRequest } from "../../errors.js";
import {
  bucketEndAt,
  bucketStartAt,
  type Granularity,
  isAllowedRange,
  RANGE_ERRORS,
  toBuckets,
  type VerificationBucket,
} from "../../statistics/buckets.js";
import type { UsageSubject } from "../../statistics/usage-rows.js";
import type { Want } from "../../store/key-store.js";
import type { StatisticsSubject } from "../../store/statistics.js";
import { DAY_MS, type SpanMs } from "../../time.js";
import type { PrunedCount } from "../audit-log/audit-log.js";
import { type OperationContext, transact } from "../context.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";
import { type IdentityReference, identityIds, identityWant } from "../identities/reference.js";
import { countGiven, evenWithIssues, externalId, id } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { requireId } from "../read.js";
import { pruneInput, pruneIssues } from "../time-input.js";
import { exportUsage, granularity, rangeInstant, type UsagePage } from "./export-usage.js";

/** Verifications of every bucket that the range touches. */
export interface Verifications {
  /** In ascending order of time, including empty buckets. */
  readonly verifications: readonly VerificationBucket[];
}

/** Operations on the counts of verifications. */
export interface StatisticsOperations {
  /**
   * Counts the verifications of a key, or of the keys of an identity or an API, by verdict, in UTC buckets, each complete even if the range
   * cuts it. Counts of this process are written first; those of others may be missing for a few seconds. Unknown secrets are not counted.
   *
   * @param input - Exactly one of `keyId`, `identityId` (or `externalId`) and `apiId`.
   * @throws LatchkeyError `NOT_FOUND`; `BAD_REQUEST` for a range that is empty or too long for its granularity.
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
      /** Unix epoch ms or a `Date`, inclusive. Default: 30 days before `end`. */
      readonly start?: number | Date | undefined;
      /** Unix epoch ms or a `Date`, exclusive. Default: now. */
      readonly end?: number | Date | undefined;
      /** Length of a bucket: `hour` over at most 31 days, `day` (default) over 366 days, `month` over 120 months. */
      readonly granularity?: Granularity | undefined;
    },
  ): Promise<Verifications>;
  /**
   * Returns usage to bill by: one row for each key, identity, API or tag and each past hour, day or month of UTC, including deleted ones. A
   * row appears two minutes after its span has ended, when all processes have written their counts, and never changes: its `id` stays the
   * same, so that a meter that gets it twice counts it once. A span is complete even if the range cuts it. A page reads at most 30,000
   * counts, so it may be short, or empty, and still have a `cursor`.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a range that is empty or too long for its granularity, and for an invalid cursor.
   * @example
   * const end = latchkey.now();
   * const { rows, until, cursor } = await latchkey.exportUsage({ start: end - 604_800_000, end, granularity: "day", by: "key" });
   */
  exportUsage(input: {
    /** Unix epoch ms or a `Date`, inclusive. */
    readonly start: number | Date;
    /** Unix epoch ms or a `Date`, exclusive. */
    readonly end: number | Date;
    /** Length of a span: `hour` over at most 31 days, `day` over 366 days, `month` over 120 months. */
    readonly granularity: Granularity;
    /** What each row is about. */
    readonly by: UsageSubject;
    /** The `cursor` of the previous page, with the same input. */
    readonly cursor?: string | undefined;
    /** Most rows: 1 to 1,000. Default: 100. */
    readonly limit?: number | undefined;
  }): Promise<UsagePage>;
  /**
   * Deletes the counts of all UTC days that ended by an instant, in bounded steps that do not hold up other calls. `lastUsedAt` of keys
   * stays.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.pruneVerifications({ before: latchkey.now() - 400 * 86_400_000 });
   */
  pruneVerifications(input: {
    /** Unix epoch ms or a `Date`, not later than now. */
    readonly before: number | Date;
  }): Promise<PrunedCount>;
}

/** The default range: 30 days. */
const USUAL_RANGE_MS: SpanMs = 30 * DAY_MS;

const getVerificationsInput = z
  .strictObject({
    keyId: id.optional(),
    ...identityIds,
    ownerId: externalId.optional(),
    apiId: id.optional(),
    start: rangeInstant.optional(),
    end: rangeInstant.optional(),
    granularity: granularity.default("day"),
  })
  .refine(
    ({ keyId, identityId, externalId, ownerId, apiId }) =>
      countGiven(keyId, identityId ?? externalId ?? ownerId, apiId) === 1,
    {
      ...evenWithIssues,
      error: "exactly one of keyId, identityId (or externalId) and apiId must be given",
    },
  );

export const STATISTICS_TABLE = {
  getVerifications: operation(getVerificationsInput, async (context, question) => {
    const { granularity, end = context.now() + 1 } = question;
    const { start = Math.max(0, end - USUAL_RANGE_MS) } = question;
    if (!isAllowedRange(start, end, granularity))
      throw badRequest([{ path: "end", message: RANGE_ERRORS[granularity] }]);
    const subject = await subjectOf(context, question);
    await context.recorder?.flush();
    const lastBucketAt = bucketStartAt(end - 1, granularity);
    const hours = await context.store.readStatistics(context.workspaceId, {
      subject,
      startAt: bucketStartAt(start, granularity),
      endAt: bucketEndAt(lastBucketAt, granularity),
    });
    return { verifications: toBuckets(hours, start, end, granularity) };
  }),

  exportUsage,

  pruneVerifications: operation(
    pruneInput,
    async (context, { before }) => {
      const { store, workspaceId } = context;
      const beforeAt = bucketStartAt(before, "day");
      await context.call?.isFirst();
      return deleteInBatches(context, DELETED_AT_ONCE, async (round, limit) => {
        const counted = await store.deleteStatistics(workspaceId, beforeAt, limit);
        if (round.call === null) return counted;
        // The store deletes sums outside of commits: if the process dies in between, `deleted` lacks the sums of this step.
        return transact(round, async () => counted);
      });
    },
    { issuesAt: pruneIssues },
  ),
} satisfies TableOf<StatisticsOperations>;

/** @throws LatchkeyError `NOT_FOUND` if this workspace has no such key, identity or API. */
async function subjectOf(
  context: OperationContext,
  { keyId, apiId, ...ids }: z.output<typeof getVerificationsInput>,
): Promise<StatisticsSubject> {
  const { identityId, ownerId, externalId = ownerId } = ids;
  const find = async (kind: StatisticsSubject["kind"], want: Want) => ({
    kind,
    id: await requireId(context, want),
  });
  if (keyId !== undefined) return find("key", { kind: "key", id: keyId });
  if (apiId !== undefined) return find("api", { kind: "api", id: apiId });
  return find("identity", identityWant({ identityId, externalId }));
}
