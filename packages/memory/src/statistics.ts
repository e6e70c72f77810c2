import {
  type DeletedCount,
  type EpochMs,
  type HourCount,
  STATISTICS_SPAN_MS,
  type StatisticsPage,
  type StatisticsPageWant,
  type StatisticsRange,
  type StatisticsSubject,
  type SubjectCount,
} from "@latchkey/core";
import { entryOf, mapIn } from "./entry-of.js";

const DAY_MS = 24 * STATISTICS_SPAN_MS;

/** The sums of one workspace, by UTC day (they are deleted by day) and then by subject. */
export class StatisticsSums {
  readonly #days = new Map<EpochMs, Map<string, HourCount[]>>();

  add({ subject, hourAt, code, count }: SubjectCount): void {
    const day = mapIn(this.#days, hourAt - (hourAt % DAY_MS));
    const sums = entryOf(day, nameOf(subject), (): HourCount[] => []);
    const index = sums.findIndex((sum) => sum.hourAt === hourAt && sum.code === code);
    if (index === -1) sums.push({ hourAt, code, count });
    else
      sums[index] = {
        hourAt,
        code,
        count: Math.min(count + (sums[index]?.count ?? 0), Number.MAX_SAFE_INTEGER),
      };
  }

  read({ subject, startAt, endAt }: StatisticsRange): readonly HourCount[] {
    return [...this.#days.values()]
      .flatMap((subjects) => subjects.get(nameOf(subject)) ?? [])
      .filter(({ hourAt }) => hourAt >= startAt && hourAt < endAt)
      .map((sum) => ({ ...sum }))
      .sort((one, other) => one.hourAt - other.hourAt);
  }

  page({ kind, dayAt, from, limit }: StatisticsPageWant): StatisticsPage {
    const day = this.#days.get(dayAt) ?? new Map<string, HourCount[]>();
    const first = nameOf({ kind, id: "" });
    const ids = [...day.keys()]
      .filter((name) => name.startsWith(first))
      .map((name) => name.slice(first.length))
      .filter((id) => id >= from)
      .sort();
    const sums: SubjectCount[] = [];
    for (const id of ids) {
      if (sums.length >= limit) return { sums, hasMore: true };
      const subject = { kind, id };
      for (const sum of day.get(nameOf(subject)) ?? []) sums.push({ subject, ...sum });
    }
    return { sums, hasMore: false };
  }

  /** The first day at or after `from` that has sums; null if there is none. */
  nextDay(from: EpochMs): EpochMs | null {
    const days = [...this.#days.keys()].filter((dayAt) => dayAt >= from);
    return days.length === 0 ? null : Math.min(...days);
  }

  /** Deletes the sums of days before `beforeAt` until `limit` sums are gone, or a few more: those of one subject and day go together. */
  delete(beforeAt: EpochMs, limit: number, of?: readonly StatisticsSubject[]): DeletedCount {
    let deleted = 0;
    for (const [dayAt, subjects] of this.#days) {
      if (dayAt >= beforeAt) continue;
      for (const name of of?.map(nameOf) ?? subjects.keys()) {
        const count = subjects.get(name)?.length ?? 0;
        if (count > 0 && deleted >= limit) return { deleted, hasMore: true };
        subjects.delete(name);
        deleted += count;
      }
      if (subjects.size === 0) this.#days.delete(dayAt);
    }
    return { deleted, hasMore: false };
  }
}

/** A kind contains no space, whereas an id may contain any character. */
const nameOf = ({ kind, id }: StatisticsSubject) => `${kind} ${id}`;
