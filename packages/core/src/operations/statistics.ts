import { z } from "zod";
import { badField } from "../errors.js";
import { encodeCursor, type ListScope } from "../lib/cursor.js";
import { shortDigest } from "../secrets/hash.js";
import {
  bucketEndAt,
  bucketStartAt,
  GRANULARITIES,
  type Granularity,
  isAllowedRange,
  rangeError,
  settledUntil,
  toBuckets,
  type VerificationBucket,
} from "../statistics/buckets.js";
import {
  inRowOrder,
  toUsageRows,
  USAGE_SUBJECTS,
  type UsageRow,
  type UsageSubject,
} from "../statistics/usage-rows.js";
import { afterWriting } from "../store/after-writing.js";
import type { Want } from "../store/key-store.js";
import type { StatisticsPage, StatisticsSubject } from "../store/statistics.js";
import { DAY_MS, type EpochMs, type SpanMs } from "../time.js";
import { afterCursor, type OperationContext, transact } from "./context.js";
import { DELETED_AT_ONCE, deleteInBatches } from "./delete-in-batches.js";
import type { PrunedCount } from "./events/audit-log.js";
import { type IdentityReference, identityIds, identityWant } from "./identities/reference.js";
import {
  countGiven,
  evenWithIssues,
  externalId,
  id,
  oneOf,
  optional,
  pageFields,
  wholeNumber,
} from "./input.js";
import { operation, type TableOf } from "./operation.js";
import { requireId } from "./read.js";
import { instant, pruneInput, pruneIssues } from "./time-input.js";

/** A page of rows. */
export interface UsagePage {
  /** Ordered by day (by month with granularity `month`), then by key, identity, API or tag, then by `start`. */
  readonly rows: readonly UsageRow[];
  /** Unix epoch ms: start the next export here. All pages together have every row of the range that starts before it, and no later row. */
  readonly until: EpochMs;
  /** Cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

const MOST_ROWS = 1_000;

/** A page ends once it has read this many sums, or this many days. */
const MOST_SUMS = 10_000;
const MOST_DAYS = 400;

/** Sums of a day read at once. All days of a month together make about {@link MOST_SUMS}. */
const SUMS_OF_A_DAY = { day: 1_000, month: 320 } as const;

/** The end of the year 9999: calendar arithmetic stays exact a long way beyond it. */
const LATEST: EpochMs = 253_402_300_799_999;

/** An edge of a range of statistics. */
const rangeInstant = instant(0, LATEST);

const granularity = oneOf(GRANULARITIES);

const exportUsageInput = z.strictObject({
  start: rangeInstant,
  end: rangeInstant,
  granularity,
  by: oneOf(USAGE_SUBJECTS),
  cursor: pageFields.cursor,
  limit: wholeNumber(1, MOST_ROWS).default(100),
});

type UsageQuestion = z.output<typeof exportUsageInput>;

/** The position between two pages of rows. */
interface UsagePlace {
  /** The export has the rows that start before this. */
  readonly until: EpochMs;
  /** Start of the current day or month. */
  readonly spanAt: EpochMs;
  /** The last row of that day or month that was exported; an empty id: none. */
  readonly id: string;
  readonly start: EpochMs;
}

const POSITION = /^\d{1,16}\.\d{1,16}\.\d{1,16}\.[A-Za-z0-9_.:-]{0,128} ?$/;

const exportUsage = operation(exportUsageInput, async (context, question): Promise<UsagePage> => {
  const { start, end, granularity: by, limit, cursor } = question;
  refuseRange(start, end, by);
  const scope = scopeOf(context, question);
  const position = afterCursor(scope, cursor, POSITION);
  if (position === null) await context.recorder?.flush(context.workspaceId);
  let place = position === null ? beginning(context, question) : readPlace(position);
  const { until } = place;
  const rows: UsageRow[] = [];
  for (let [sums, days] = [0, 0]; place.spanAt < until; ) {
    const span = await readSpan(context, question, place);
    const shown = span.rows.slice(0, limit - rows.length);
    rows.push(...shown.map(({ subject: _, ...row }) => row));
    const last = shown.at(-1);
    const isCut = last !== undefined && shown.length < span.rows.length;
    place = isCut ? { ...place, id: last.subject.id, start: last.start } : span.next;
    sums += span.sums;
    days += span.days;
    if (rows.length >= limit || sums >= MOST_SUMS || days >= MOST_DAYS) break;
  }
  if (place.spanAt >= until) return { rows, until };
  const { spanAt, id, start: startAt } = place;
  return { rows, until, cursor: encodeCursor(scope, [until, spanAt, startAt, id].join(".")) };
});

/** @throws LatchkeyError `BAD_REQUEST` for a range that is empty, or too long for its granularity. */
function refuseRange(start: EpochMs, end: EpochMs, of: Granularity): void {
  if (!isAllowedRange(start, end, of)) throw badField("end", rangeError(of));
}

function scopeOf(
  { workspaceId }: OperationContext,
  { start, end, granularity: span, by }: UsageQuestion,
): ListScope {
  return { list: "usage", ownerId: shortDigest([workspaceId, start, end, span, by]) };
}

/** The span that is read at once: a row of a month needs all of its days. */
function spanOf(of: Granularity): "day" | "month" {
  return of === "month" ? "month" : "day";
}

function beginning(context: OperationContext, question: UsageQuestion): UsagePlace {
  const { start, end, granularity: of } = question;
  const firstAt = bucketStartAt(start, of);
  const endAt = bucketEndAt(bucketStartAt(end - 1, of), of);
  const until = Math.max(firstAt, Math.min(endAt, settledUntil(context.now(), of)));
  return { until, spanAt: bucketStartAt(firstAt, spanOf(of)), id: "", start: 0 };
}

function readPlace(position: string): UsagePlace {
  const [until, spanAt, start, ...id] = position.split(".");
  return { until: Number(until), spanAt: Number(spanAt), start: Number(start), id: id.join(".") };
}

/** Rows of a part of a day or month, after a position, in order; the position to continue from; and how much was read for them. */
async function readSpan(
  { store, workspaceId }: OperationContext,
  { start, granularity: of, by: kind, limit: most }: UsageQuestion,
  place: UsagePlace,
) {
  const { until, spanAt, id: from } = place;
  const span = spanOf(of);
  const endAt = bucketEndAt(spanAt, span);
  const limit = Math.min(most, SUMS_OF_A_DAY[span]);
  const reading: Promise<StatisticsPage>[] = [];
  for (let dayAt = spanAt; dayAt < Math.min(endAt, until); dayAt += DAY_MS)
    reading.push(store.pageStatistics(workspaceId, { kind, dayAt, from, limit }));
  const pages = await Promise.all(reading);
  const sums = pages.flatMap((page) => page.sums);
  // A row may sum up several days: it is complete when each of them has been read past its id.
  const ends = pages.flatMap((page) => (page.hasMore ? [page.sums.at(-1)?.subject.id ?? ""] : []));
  const [lastId = null] = ends.sort();
  const firstAt = bucketStartAt(start, of);
  const whole = sums.filter(
    ({ subject, hourAt }) =>
      hourAt >= firstAt && hourAt < until && (lastId === null || subject.id <= lastId),
  );
  const behind = { subject: { kind, id: from }, start: place.start };
  return {
    rows: toUsageRows(whole, of, workspaceId).filter((row) => inRowOrder(row, behind) > 0),
    // Ids contain no space, so an id plus a space comes right after the id.
    next:
      lastId === null
        ? { until, spanAt: endAt, id: "", start: 0 }
        : { until, spanAt, id: `${lastId} `, start: 0 },
    sums: sums.length,
    days: pages.length,
  };
}

/** Verifications of every bucket that the range touches. */
export interface Verifications {
  /** In ascending order of time, including empty buckets. */
  readonly verifications: readonly VerificationBucket[];
}

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
   * row appears two minutes after its span has ended, and never changes; its `id` is permanent. A span is complete even if the range cuts
   * it. A page may be short, or empty, and still have a `cursor`.
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

const USUAL_RANGE_MS: SpanMs = 30 * DAY_MS;

const getVerificationsInput = z
  .strictObject({
    keyId: id.optional(),
    ...identityIds,
    ...optional({ ownerId: externalId, apiId: id, start: rangeInstant, end: rangeInstant }),
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
    refuseRange(start, end, granularity);
    const subject = await subjectOf(context, question);
    await context.recorder?.flush(context.workspaceId);
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
        // The store deletes sums outside of commits. When this one resolves, they are gone for good; if the process dies in between, a repeat
        // does not count them.
        return afterWriting(() => transact(round, async () => counted), counted.deleted > 0);
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
