import { z } from "zod";
import { badRequest } from "../../errors.js";
import { encodeCursor, type ListScope } from "../../lib/cursor.js";
import { sha256Text } from "../../secrets/hash.js";
import {
  bucketEndAt,
  bucketStartAt,
  GRANULARITIES,
  type Granularity,
  isAllowedRange,
  RANGE_ERRORS,
  settledUntil,
} from "../../statistics/buckets.js";
import {
  inRowOrder,
  toUsageRows,
  USAGE_SUBJECTS,
  type UsageRow,
  type UsageRowPlace,
} from "../../statistics/usage-rows.js";
import type { StatisticsPage } from "../../store/statistics.js";
import { DAY_MS, type EpochMs } from "../../time.js";
import { afterCursor, type OperationContext } from "../context.js";
import { orRequired, pageFields, wholeNumber } from "../input.js";
import { operation } from "../operation.js";
import { instant } from "../time-input.js";

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
export const rangeInstant = instant(0, LATEST);

export const granularity = z.enum(GRANULARITIES, {
  error: orRequired('must be "hour", "day" or "month"'),
});

const exportUsageInput = z.strictObject({
  start: rangeInstant,
  end: rangeInstant,
  granularity,
  by: z.enum(USAGE_SUBJECTS, { error: orRequired('must be "key", "identity", "api" or "tag"') }),
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

export const exportUsage = operation(
  exportUsageInput,
  async (context, question): Promise<UsagePage> => {
    const { start, end, granularity: by, limit, cursor } = question;
    if (!isAllowedRange(start, end, by))
      throw badRequest([{ path: "end", message: RANGE_ERRORS[by] }]);
    const scope = scopeOf(context, question);
    const position = afterCursor(scope, cursor, POSITION);
    if (position === null) await context.recorder?.flush();
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
  },
);

function scopeOf(
  { workspaceId }: OperationContext,
  { start, end, granularity: span, by }: UsageQuestion,
): ListScope {
  const asked = JSON.stringify([workspaceId, start, end, span, by]);
  return { list: "usage", ownerId: sha256Text(asked).slice(0, 22) };
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

/** Rows of a part of a day or month, after a position, in order. */
interface UsageSpan {
  readonly rows: readonly (UsageRow & UsageRowPlace)[];
  /** Position to continue from. */
  readonly next: UsagePlace;
  /** How much was read for it. */
  readonly sums: number;
  readonly days: number;
}

async function readSpan(
  { store, workspaceId }: OperationContext,
  { start, granularity: of, by: kind, limit: most }: UsageQuestion,
  place: UsagePlace,
): Promise<UsageSpan> {
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
