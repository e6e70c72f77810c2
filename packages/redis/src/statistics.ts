import {
  COUNTED_CODES,
  type CountedCode,
  corruptRecord,
  type DeletedCount,
  type EpochMs,
  type HourCount,
  LatchkeyError,
  STATISTICS_SPAN_MS,
  type StatisticsBatch,
  type StatisticsRange,
  type StatisticsSubject,
  type SubjectCount,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { noAnswer } from "./engine/errors.js";
import { type Names, plain } from "./engine/names.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, digits, whole } from "./engine/stored-values.js";

const HOURS_A_DAY = 24;
const DAY_MS = HOURS_A_DAY * STATISTICS_SPAN_MS;
const SUM = "sum of verifications";

/** Most subjects and days, or records, that one script writes or reads: nobody waits long behind it. */
const MOST_AT_ONCE = 200;

/** What is to be added to the sums of one subject and day. */
interface DayCounts {
  /** What names the subject and day in the list of all. */
  readonly member: string;
  /** Field and number, in turn. */
  readonly counts: readonly string[];
}

/** Sums of verifications, by subject and day of UTC. */
export class Statistics {
  readonly #connection: Connection;
  readonly #names: Names;

  constructor(connection: Connection, names: Names) {
    this.#connection = connection;
    this.#names = names;
  }

  /** In several steps where there is much to add. Once the first is made, a failure is one with an unknown outcome. */
  async add(workspaceId: string, { counts, uses }: StatisticsBatch): Promise<void> {
    const days = byDay(counts);
    // One at least, so that a store that is closed says so.
    const steps = Math.max(1, Math.ceil(Math.max(days.length, uses.length) / MOST_AT_ONCE));
    for (let step = 0; step < steps; step += 1) {
      const from = step * MOST_AT_ONCE;
      const to = from + MOST_AT_ONCE;
      try {
        await this.#addSome(workspaceId, days.slice(from, to), uses.slice(from, to));
      } catch (error) {
        throw step === 0 ? error : halfWay(error);
      }
    }
  }

  async read(workspaceId: string, { subject, startAt, endAt }: StatisticsRange) {
    const found: HourCount[] = [];
    const [first, last] = await this.#daysBetween(workspaceId, dayOf(startAt), dayOf(endAt - 1));
    for (let from = first; from <= last; from += MOST_AT_ONCE) {
      const count = Math.min(MOST_AT_ONCE, last - from + 1);
      const days = Array.from({ length: count }, (_, number) => from + number);
      found.push(...(await this.#readDays(workspaceId, subject, days)));
    }
    return found.filter(({ hourAt }) => hourAt >= startAt && hourAt < endAt);
  }

  /** Two steps: which days, then those of them that are not too many. */
  async delete(workspaceId: string, beforeAt: EpochMs, limit: number): Promise<DeletedCount> {
    const names = this.#names.of(workspaceId);
    const end = `(${dayText(dayOf(beforeAt))}`;
    const [listed] = await this.#listDays(workspaceId, end, limit + 1);
    const members = listed.slice(0, limit);
    if (members.length === 0) return { deleted: 0, hasMore: false };
    const keys = [names.days, ...members.map((member) => names.countsOf(member))];
    const args = [String(limit), ...members];
    return this.#connection.run(SCRIPTS.deleteStatistics, keys, args, (answer) => {
      const [deleted, visited] = asList(answer, SUM);
      return { deleted: whole(deleted, SUM), hasMore: whole(visited, SUM) < listed.length };
    });
  }

  #addSome(
    workspaceId: string,
    days: readonly DayCounts[],
    uses: StatisticsBatch["uses"],
  ): Promise<void> {
    const names = this.#names.of(workspaceId);
    const homes = uses.map((use) => (use.kind === "key" ? names.addresses : names.recordsOf(use)));
    const keys = [names.days, ...homes, ...days.map(({ member }) => names.countsOf(member))];
    const args = [
      String(uses.length),
      ...uses.flatMap(({ id, usedAt }) => [id, digits(usedAt)]),
      ...days.flatMap(({ member, counts }) => [member, String(counts.length / 2), ...counts]),
    ];
    return this.#connection.run(SCRIPTS.addStatistics, keys, args, (answer) => {
      if (answer !== "OK") throw corruptRecord(SUM);
    });
  }

  /** The days of a range; where they are many, those of them between the first and the last that anything was counted in. */
  async #daysBetween(
    workspaceId: string,
    first: number,
    last: number,
  ): Promise<readonly [number, number]> {
    if (last - first < MOST_AT_ONCE) return [first, last];
    const [[lowest], highest] = await this.#listDays(workspaceId, "+", 1);
    if (lowest === undefined || highest === undefined) return [0, -1];
    return [Math.max(first, dayOfMember(lowest)), Math.min(last, dayOfMember(highest))];
  }

  /** The first days that have sums, and the last. */
  #listDays(workspaceId: string, end: string, limit: number) {
    const keys = [this.#names.of(workspaceId).days];
    return this.#connection.run(SCRIPTS.listDays, keys, [end, String(limit)], (answer) => {
      const [first, last] = asList(answer, SUM).map((part) => asList(part, SUM).map(String));
      return [first ?? [], last?.[0]] as const;
    });
  }

  #readDays(
    workspaceId: string,
    subject: StatisticsSubject,
    days: readonly number[],
  ): Promise<readonly HourCount[]> {
    const names = this.#names.of(workspaceId);
    const keys = days.map((day) => names.countsOf(dayMember(subject, day)));
    return this.#connection.run(SCRIPTS.readStatistics, keys, [], (answer) => {
      const sums = asList(answer, SUM);
      return days.flatMap((day, index) => hourCounts(day, asList(sums[index], SUM)));
    });
  }
}

/** Some of it was added, whatever is said of the rest. */
function halfWay(error: unknown): unknown {
  const isKnown = error instanceof LatchkeyError && error.outcome === "not-applied";
  return isKnown ? noAnswer(true, error.message) : error;
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

function dayOfMember(member: string): number {
  return whole(member.slice(0, member.indexOf(" ")).replace(/^0+(?=\d)/, ""), SUM);
}

/** Counts put together by subject and day. */
function byDay(counts: readonly SubjectCount[]): readonly DayCounts[] {
  const byMember = new Map<string, string[]>();
  for (const { subject, hourAt, code, count } of counts) {
    const member = dayMember(subject, dayOf(hourAt));
    const hour = Math.floor((hourAt % DAY_MS) / STATISTICS_SPAN_MS);
    const known = byMember.get(member) ?? [];
    known.push(`${hour} ${code}`, digits(count));
    byMember.set(member, known);
  }
  return [...byMember].map(([member, counts]) => ({ member, counts }));
}

/** Reads field, count, field, count … of one day: by hour, then in the order of the codes. */
function hourCounts(day: number, fields: readonly unknown[]): readonly HourCount[] {
  const found: HourCount[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const [hour, code] = String(fields[at]).split(" ");
    const hourAt = day * DAY_MS + whole(hour, SUM) * STATISTICS_SPAN_MS;
    const isKnown = (COUNTED_CODES as readonly unknown[]).includes(code);
    if (!isKnown || Number(hour) >= HOURS_A_DAY) throw corruptRecord(SUM);
    found.push({ hourAt, code: code as CountedCode, count: whole(fields[at + 1], SUM) });
  }
  return found.sort(inOrder);
}

function inOrder(one: HourCount, other: HourCount): number {
  const order = COUNTED_CODES.indexOf(one.code) - COUNTED_CODES.indexOf(other.code);
  return one.hourAt - other.hourAt || order;
}
