import type { LoadedRecord, PageResult, PageWant } from "../store/key-store.js";
import {
  type DeletedCount,
  type HourCount,
  MOST_SUMS_A_DAY,
  type StatisticsPage,
  type StatisticsPageWant,
  type StatisticsRange,
  type StatisticsSubject,
  type SubjectCount,
  wholeSubjects,
} from "../store/statistics.js";
import { DAY_MS, type EpochMs } from "../time.js";

/**
 * The records of a page, for a small store that sorts them each time.
 *
 * @param listed - All records of the list, in any order.
 */
export function plainPage(
  listed: readonly LoadedRecord[],
  { after, descending = false, from, limit }: PageWant,
): Pick<PageResult, "found" | "hasMore"> {
  const sorted = listed.toSorted(byId);
  const ordered = from === undefined && descending ? sorted.reverse() : sorted;
  const found =
    from === undefined
      ? ordered.filter(
          ({ record: { id } }) => after === null || (descending ? id < after : id > after),
        )
      : ordered
          .sort(({ record: one }, { record: other }) => one.version - other.version)
          .filter(({ record: { version, id } }) =>
            version === from.version ? id >= from.id : version > from.version,
          );
  return { found: found.slice(0, limit), hasMore: found.length > limit };
}

function byId({ record: one }: LoadedRecord, { record: other }: LoadedRecord): number {
  return one.id < other.id ? -1 : 1;
}

/** Identifies a sum. */
export type SumName = Omit<SubjectCount, "count">;

/** Where a small store keeps its sums. */
export interface SumRows {
  /** All sums, in any order. */
  all(): readonly SubjectCount[];
  /** 0 for none. */
  count(of: SumName): number;
  /** Writes a sum, new or not. */
  set(sum: SubjectCount): void;
  delete(of: SumName): void;
}

/** The statistics of a small store, which scans all sums each time. Other stores use an index. */
export function plainStatistics(rows: SumRows) {
  return {
    /** For `KeyStore.addStatistics`. */
    add(counts: readonly SubjectCount[]): void {
      for (const { count, ...of } of counts)
        rows.set({ ...of, count: Math.min(count + rows.count(of), Number.MAX_SAFE_INTEGER) });
    },
    /** Result of `KeyStore.readStatistics`. */
    read({ subject, startAt, endAt }: StatisticsRange): readonly HourCount[] {
      return rows
        .all()
        .filter((sum) => isOf(sum, subject) && sum.hourAt >= startAt && sum.hourAt < endAt)
        .map(({ hourAt, code, count }) => ({ hourAt, code, count }))
        .sort((one, other) => one.hourAt - other.hourAt);
    },
    /** Result of `KeyStore.pageStatistics`. */
    page({ kind, dayAt, from, limit }: StatisticsPageWant): StatisticsPage {
      const sums = rows
        .all()
        .filter(({ subject }) => subject.kind === kind && subject.id >= from)
        .filter(({ hourAt }) => hourAt >= dayAt && hourAt < dayAt + DAY_MS)
        .sort(({ subject: one }, { subject: other }) =>
          one.id < other.id ? -1 : Number(one.id > other.id),
        );
      return wholeSubjects(sums.slice(0, limit + MOST_SUMS_A_DAY), limit);
    },
    /** Result of `KeyStore.nextStatisticsDay`. */
    nextDay(from: EpochMs): EpochMs | null {
      const days = rows.all().map(({ hourAt }) => hourAt - (hourAt % DAY_MS));
      return days.filter((dayAt) => dayAt >= from).sort((one, other) => one - other)[0] ?? null;
    },
    /** Result of `KeyStore.deleteStatistics`. */
    delete(beforeAt: EpochMs, limit: number, of?: readonly StatisticsSubject[]): DeletedCount {
      const old = rows
        .all()
        .filter(({ hourAt }) => hourAt < beforeAt)
        .filter((sum) => of === undefined || of.some((subject) => isOf(sum, subject)));
      for (const sum of old.slice(0, limit)) rows.delete(sum);
      return { deleted: Math.min(old.length, limit), hasMore: old.length > limit };
    },
  };
}

function isOf({ subject }: SubjectCount, { kind, id }: StatisticsSubject): boolean {
  return subject.kind === kind && subject.id === id;
}
