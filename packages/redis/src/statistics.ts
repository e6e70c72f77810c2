import {
  COUNTED_CODES,
  corruptRecord,
  type DeletedCount,
  type EpochMs,
  type HourCount,
  LatchkeyError,
  STATISTICS_SPAN_MS,
  type StatisticsBatch,
  type StatisticsRange,
  type StatisticsSubject,
} from "@latchkey/core";
import type { StoreContext } from "./engine/context.js";
import { noAnswer } from "./engine/errors.js";
import { plain } from "./engine/names.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, digits, whole } from "./engine/stored-values.js";

const HOURS_A_DAY = 24;
const DAY_MS = HOURS_A_DAY * STATISTICS_SPAN_MS;
const SUM = "sum of verifications";

/** Most subjects and days, or records, that one script writes or reads: nobody waits long behind it. */
const MOST_AT_ONCE = 200;

/** A subject and day as the list of all names it, and what is to be added there: field and number, in turn. */
type DayCounts = readonly [member: string, counts: readonly string[]];

/** In several steps where there is much to add. Once the first is made, a failure is one with an unknown outcome. */
export async function addStatistics(
  { connection, names: all }: StoreContext,
  workspaceId: string,
  batch: StatisticsBatch,
): Promise<void> {
  const names = all.of(workspaceId);
  const allDays = byDay(batch.counts);
  let from = 0;
  // One step at least, so that a store that is closed says so.
  do {
    const days = allDays.slice(from, from + MOST_AT_ONCE);
    const uses = batch.uses.slice(from, from + MOST_AT_ONCE);
    const keys = [
      names.days,
      ...uses.map((use) => names.recordsOf(use)),
      ...days.map(([member]) => names.countsOf(member)),
    ];
    const args = [
      String(uses.length),
      ...uses.flatMap(({ id, usedAt }) => [id, digits(usedAt)]),
      ...days.flatMap(([member, counts]) => [member, String(counts.length / 2), ...counts]),
    ];
    const isFirst = from === 0;
    const answer = await connection
      .run(SCRIPTS.addStatistics, keys, args, String)
      .catch((error) => {
        const isKnown = error instanceof LatchkeyError && error.outcome === "not-applied";
        throw isKnown && !isFirst ? noAnswer(true, error.message) : error;
      });
    if (answer !== "OK") throw corruptRecord(SUM);
    from += MOST_AT_ONCE;
  } while (from < Math.max(allDays.length, batch.uses.length));
}

/** The sums of a range, a few days a step. */
export async function readStatistics(
  context: StoreContext,
  workspaceId: string,
  { subject, startAt, endAt }: StatisticsRange,
): Promise<readonly HourCount[]> {
  const names = context.names.of(workspaceId);
  const found: HourCount[] = [];
  let [from, last] = [dayOf(startAt), dayOf(endAt - 1)];
  if (last - from >= MOST_AT_ONCE) {
    const [lowest] = await listDays(context, workspaceId, "a", "+", 1);
    const [highest] = await listDays(context, workspaceId, "d", "+", 1);
    from = Math.max(from, dayOfMember(lowest));
    last = Math.min(last, dayOfMember(highest));
  }
  for (; from <= last; from += MOST_AT_ONCE) {
    const first = from;
    const count = Math.min(MOST_AT_ONCE, last - first + 1);
    const members = Array.from({ length: count }, (_, after) => dayMember(subject, first + after));
    const keys = members.map((member) => names.countsOf(member));
    const sums = await context.connection.run(SCRIPTS.readStatistics, keys, [], (answer) =>
      asList(answer, SUM).flatMap((day, after) => hourCounts(first + after, asList(day, SUM))),
    );
    found.push(...sums);
  }
  return found.filter(({ hourAt }) => hourAt >= startAt && hourAt < endAt);
}

/** Two steps: which days, then those of them that are not too many. */
export async function deleteStatistics(
  context: StoreContext,
  workspaceId: string,
  beforeAt: EpochMs,
  limit: number,
): Promise<DeletedCount> {
  const names = context.names.of(workspaceId);
  const end = `(${dayText(dayOf(beforeAt))}`;
  const listed = await listDays(context, workspaceId, "a", end, limit + 1);
  const members = listed.slice(0, limit);
  if (members.length === 0) return { deleted: 0, hasMore: false };
  const keys = [names.days, ...members.map((member) => names.countsOf(member))];
  const args = [String(limit), ...members];
  return context.connection.run(SCRIPTS.deleteStatistics, keys, args, (answer) => {
    const [deleted, visited] = asList(answer, SUM);
    return { deleted: whole(deleted, SUM), hasMore: whole(visited, SUM) < listed.length };
  });
}

/** The first days that have sums of any subject, or the last. */
function listDays(
  { connection, names: all }: StoreContext,
  workspaceId: string,
  order: "a" | "d",
  end: string,
  limit: number,
) {
  const { workspace, days } = all.of(workspaceId);
  const range = order === "a" ? ["-", end] : [end, "-"];
  const args = [order, ...range, String(limit)];
  return connection.run(SCRIPTS.page, [workspace, days, days], args, (answer) =>
    asList(asList(answer, SUM)[2], SUM).map(String),
  );
}

/** Number of the day of UTC since the epoch that an instant is in. */
function dayOf(at: EpochMs): number {
  return Math.floor(at / DAY_MS);
}

/** A subject and day in the list of all, which is in ascending order of day. */
function dayMember({ kind, id }: StatisticsSubject, day: number): string {
  return `${dayText(day)} ${kind} ${plain(id)}`;
}

/** In front of all members of this day and of those after it, behind all of those before it. */
function dayText(day: number): string {
  return String(day).padStart(9, "0");
}

/** Not a number where there is no member. */
function dayOfMember(member = ""): number {
  return Number(member.split(" ")[0] || Number.NaN);
}

/** Counts put together by subject and day. */
function byDay(counts: StatisticsBatch["counts"]): readonly DayCounts[] {
  const byMember = new Map<string, string[]>();
  for (const { subject, hourAt, code, count } of counts) {
    const member = dayMember(subject, dayOf(hourAt));
    const hour = Math.floor((hourAt % DAY_MS) / STATISTICS_SPAN_MS);
    const known = byMember.get(member) ?? [];
    known.push(`${hour} ${code}`, digits(count));
    byMember.set(member, known);
  }
  return [...byMember];
}

/** Reads field, count, field, count … of one day: by hour, then in the order of the codes. */
function hourCounts(day: number, fields: readonly unknown[]): readonly HourCount[] {
  const found: HourCount[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const [hour, word] = String(fields[at]).split(" ");
    const code = COUNTED_CODES.find((known) => known === word);
    if (code === undefined || whole(hour, SUM) >= HOURS_A_DAY) throw corruptRecord(SUM);
    const hourAt = day * DAY_MS + whole(hour, SUM) * STATISTICS_SPAN_MS;
    found.push({ hourAt, code, count: whole(fields[at + 1], SUM) });
  }
  const rankOf = ({ code }: HourCount) => COUNTED_CODES.indexOf(code);
  return found.sort((one, other) => one.hourAt - other.hourAt || rankOf(one) - rankOf(other));
}
