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
import type { SpanMs } from "../../time.js";
import type { PrunedCount } from "../audit-log/audit-log.js";
import { notFound, type OperationContext, transactPlain } from "../context.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";
import { type IdentityReference, identityIds, identityWant } from "../identities/reference.js";
import { evenWithIssues, externalId, id, parseInput } from "../input.js";
import { operation, type Run, type TableOf } from "../operation.js";
import type { ResourceName } from "../read.js";
import { instant, notLaterThanNow } from "../time-input.js";
import { exportUsage, type UsagePage } from "./export-usage.js";
import { granularity, rangeInstant } from "./input.js";

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
   * Usage to bill by: one row for each key, identity, API or tag of keys and each hour, day or month of UTC that is over, also of those that were deleted
   * meanwhile. A row is told two minutes after its span has ended, when all processes have written what they counted, and stays as it is: its
   * `id` is the same whenever it is told, so that a meter which takes it twice counts it once. A span counts as a whole, also where the range cuts
   * it. A page reads 30,000 counters at most: it may be shorter than `limit`, or empty, and go on.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a range that is empty or too long for its granularity, and for a cursor of another question.
   * @example
   * const end = latchkey.now();
   * const { rows, until, cursor } = await latchkey.exportUsage({ start: end - 604_800_000, end, granularity: "day", by: "key" });
   */
  exportUsage(input: {
    /** Unix epoch ms or a `Date`, included. */
    readonly start: number | Date;
    /** Unix epoch ms or a `Date`, not included. */
    readonly end: number | Date;
    /** Length of a span in UTC. `hour` over at most 31 days, `day` over 366 days, `month` over 120 months. */
    readonly granularity: Granularity;
    /** What a row is of. */
    readonly by: UsageSubject;
    /** The `cursor` of the page before, of the same question. */
    readonly cursor?: string | undefined;
    /** Most rows to answer: 1 to 1,000, 100 unless given. */
    readonly limit?: number | undefined;
  }): Promise<UsagePage>;
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

/** Without a start: 30 days. */
const USUAL_RANGE_MS: SpanMs = 30 * 86_400_000;

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
  .refine((input) => subjectsIn(input) === 1, {
    ...evenWithIssues,
    error: "exactly one of keyId, identityId (or externalId) and apiId must be given",
  });

const pruneVerificationsInput = z.strictObject({ before: instant(0) });

const pruneVerifications: Run<StatisticsOperations["pruneVerifications"]> = async (
  context,
  input,
) => {
  const { store, workspaceId } = context;
  const now = context.now();
  const { before } = parseInput(pruneVerificationsInput, input, (raw) =>
    notLaterThanNow(raw, "before", now),
  );
  const beforeAt = bucketStartAt(before, "day");
  await context.call?.isFirst();
  return deleteInBatches(context, DELETED_AT_ONCE, async (round, limit) => {
    const counted = await store.deleteStatistics(workspaceId, beforeAt, limit);
    if (round.call === null) return counted;
    // Sums go by no commit: what is deleted and not yet counted when the process dies stays uncounted.
    const { answer } = await transactPlain(round, async () => counted);
    return answer;
  });
};

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

  pruneVerifications: { run: pruneVerifications, input: pruneVerificationsInput },
} satisfies TableOf<StatisticsOperations>;

function subjectsIn(input: Readonly<Record<string, unknown>>): number {
  const { keyId, identityId, externalId, ownerId, apiId } = input;
  return [keyId, identityId ?? externalId ?? ownerId, apiId].filter((one) => one !== undefined)
    .length;
}

/** @throws LatchkeyError `NOT_FOUND` where this workspace has no such key, identity or API. */
async function subjectOf(
  context: OperationContext,
  { keyId, apiId, ...ids }: z.output<typeof getVerificationsInput>,
): Promise<StatisticsSubject> {
  const { identityId, ownerId, externalId = ownerId } = ids;
  const find = async (kind: StatisticsSubject["kind"], want: Want, name: ResourceName) => {
    const { found } = await context.store.read(context.workspaceId, [want]);
    const [loaded = null] = found;
    if (loaded === null) throw notFound(name);
    return { kind, id: loaded.record.id };
  };
  if (keyId !== undefined) return find("key", { kind: "key", id: keyId }, "key");
  if (apiId !== undefined) return find("api", { kind: "api", id: apiId }, "API");
  return find("identity", identityWant({ identityId, externalId }), "identity");
}
