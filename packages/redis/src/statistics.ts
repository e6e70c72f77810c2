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
  context: StoreContext,
  workspaceId: string,
  { counts, uses }: StatisticsBatch,
): Promise<void> {
  const days = byDay(counts);
  let step = 0;
  // One at least, so that a store that is closed says so.
  do {
    const [from, to] = [step, step + MOST_AT_ONCE];
    await addSome(context, workspaceId, days.slice(from, to), uses.slice(from, to)).catch(
      (error) => {
        const isKnown = error instanceof LatchkeyError && error.outcome === "not-applied";
        throw from > 0 && isKnown ? noAnswer(true, error.message) : error;
      },
    );
    step = to;
  } while (step < Math.max(days.length, uses.length));
}

/** The sums of a range, a few days a step. */
export async function readStatistics(
  context: StoreContext,
  workspaceId: string,
  { subject, startAt, endAt }: StatisticsRange,
): Promise<readonly HourCount[]> {
  const found: HourCount[] = [];
  let [from, last] = [dayOf(startAt), dayOf(endAt - 1)];
  if (last - from >= MOST_AT_ONCE) {
    const [lowest] = await listDays(context, workspaceId, "a", "+", 1);
    const [highest] = await listDays(context, workspaceId, "d", "+", 1);
    from = Math.max(from, dayOfMember(lowest));
    last = Math.min(last, dayOfMember(highest));
  }
  for (; from <= last; from += MOST_AT_ONCE) {
    const count = Math.min(MOST_AT_ONCE, last - from + 1);
    const days = Array.from({ length: count }, (_, number) => from + number);
    found.push(...(await readDays(context, workspaceId, subject, days)));
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
  const listed = await listDays(
    context,
    workspaceId,
    "a",
    `(${dayText(dayOf(beforeAt))}`,
    limit + 1,
  );
  const members = listed.slice(0, limit);
  if (members.length === 0) return { deleted: 0, hasMore: false };
  const keys = [names.days, ...members.map((member) => names.countsOf(member))];
  const args = [String(limit), ...members];
  return context.connection.run(SCRIPTS.deleteStatistics, keys, args, (answer) => {
    const [deleted, visited] = asList(answer, SUM);
    return { deleted: whole(deleted, SUM), hasMore: whole(visited, SUM) < listed.length };
  });
}

function addSome(
  { connection, names: all }: StoreContext,
  workspaceId: string,
  days: readonly DayCounts[],
  uses: StatisticsBatch["uses"],
) {
  const names = all.of(workspaceId);
  const homes = uses.map((use) => names.recordsOf(use));
  const keys = [names.days, ...homes, ...days.map(([member]) => names.countsOf(member))];
  const args = [
    String(uses.length),
    ...uses.flatMap(({ id, usedAt }) => [id, digits(usedAt)]),
    ...days.flatMap(([member, counts]) => [member, String(counts.length / 2), ...counts]),
  ];
  return connection.run(SCRIPTS.addStatistics, keys, args, (answer) => {
    if (answer !== "OK") throw corruptRecord(SUM);
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

function readDays(
  { connection, names: all }: StoreContext,
  workspaceId: string,
  subject: StatisticsSubject,
  days: readonly number[],
) {
  const names = all.of(workspaceId);
  const keys = days.map((day) => names.countsOf(dayMember(subject, day)));
  return connection.run(SCRIPTS.readStatistics, keys, [], (answer) => {
    const sums = asList(answer, SUM);
    return days.flatMap((day, index) => hourCounts(day, asList(sums[index], SUM)));
  });
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
