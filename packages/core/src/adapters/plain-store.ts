import type { Hold } from "../rules/hold.js";
import { endsAt } from "../rules/limit-algorithm.js";
import type { RecordAddress } from "../store/change.js";
import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type LimitCharge,
  type RememberedCharge,
} from "../store/charge.js";
import { NO_USES, UNLIMITED_USES } from "../store/counters.js";
import type { LoadedRecord, PageResult, PageWant } from "../store/key-store.js";
import {
  applyHoldStep,
  type FoundHold,
  type HoldBook,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
} from "../store/settle.js";
import {
  type DeletedCount,
  type HourCount,
  MOST_SUMS_A_DAY,
  type StatisticsBatch,
  type StatisticsPage,
  type StatisticsPageWant,
  type StatisticsRange,
  type StatisticsSubject,
  type SubjectCount,
  wholeSubjects,
} from "../store/statistics.js";
import { countedByCharge, countedBySettle } from "../store/step-counts.js";
import { DAY_MS, type EpochMs } from "../time.js";
import { isVersion } from "./judge-change.js";

/** Where a store keeps its holds. */
export interface HoldRows<Counters> {
  /** All holds, in any order. */
  all(): readonly FoundHold<Counters>[];
  /** Writes a hold, new or not. */
  set(found: FoundHold<Counters>): void;
  delete(id: string): void;
  /** Counters of a record; null for none. */
  counters(of: RecordAddress): Counters | null;
}

/** Methods of a {@link HoldBook} for a small store, which scans all holds each time. Other stores use an index. */
export function plainHoldBook<Counters>(rows: HoldRows<Counters>) {
  const beside = (counters: Counters) =>
    rows
      .all()
      .filter((found) => found.counters.includes(counters))
      .sort(
        ({ hold: one }, { hold: other }) =>
          one.expiresAt - other.expiresAt || (one.id < other.id ? -1 : 1),
      );
  const any = (id: string) => rows.all().find(({ hold }) => hold.id === id) ?? null;
  return {
    find: any,
    put: (hold) => rows.set({ hold, counters: any(hold.id)?.counters ?? [] }),
    attach(hold, place, counters) {
      const known = any(hold.id)?.counters ?? hold.numbers.map(() => null);
      rows.set({ hold, counters: known.map((own, at) => (at === place ? counters : own)) });
    },
    detach({ hold, counters: all }, counters) {
      const left = all.map((own) => (own === counters ? null : own));
      if (left.every((own) => own === null)) rows.delete(hold.id);
      else rows.set({ hold, counters: left });
    },
    remove: (id) => rows.delete(id),
    counters: (of) => rows.counters(of),
    over: (counters, now, limit) =>
      beside(counters)
        .filter(({ hold }) => hold.expiresAt <= now)
        .slice(0, limit),
    oldest(counters) {
      const numbers = beside(counters).map(
        ({ hold, counters: all }) => hold.numbers[all.indexOf(counters)] ?? 0,
      );
      return numbers.length === 0 ? null : Math.min(...numbers);
    },
    /** Result of `KeyStore.holds`. */
    page(of: RecordAddress, after: string | null, limit: number): readonly Hold[] {
      const counters = rows.counters(of);
      return (counters === null ? [] : beside(counters))
        .map(({ hold }) => hold)
        .filter(({ id }) => after === null || id > after)
        .sort((one, other) => (one.id < other.id ? -1 : 1))
        .slice(0, limit);
    },
    nextEnd: (counters) => beside(counters)[0]?.hold.expiresAt ?? null,
  } satisfies Partial<HoldBook<Counters>> & { readonly page: unknown };
}

/** The records of a page, for a small store that sorts them each time. @param listed - All records of the list, in any order. */
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

/** A workspace as a JavaScript store keeps it. No method may fail half way. */
export interface WorkspaceBook<Counters> extends HoldBook<Counters> {
  /** Revision of the workspace; 0 before the first. */
  revision(): number;
  /** Null if there is no such record. */
  version(of: RecordAddress): number | null;
  /** `of`: the record that the request is remembered with; undefined for none. Null if it is not remembered. */
  request(of: RecordAddress | undefined, id: string): RememberedCharge | null;
  /** Remembers a request until its `until`. */
  setRequest(of: RecordAddress | undefined, id: string, charge: RememberedCharge): void;
  /** Does what `KeyStore.addStatistics` does. */
  addStatistics(batch: StatisticsBatch): void;
}

/** Does what `KeyStore.charge` does. The store makes it one atomic step, even for a refusal: the plan may have ended a hold. */
export function plainCharge<Counters>(
  book: WorkspaceBook<Counters>,
  plan: ChargePlan,
  moment: ChargeMoment,
): ChargeResult {
  const { revision, confirms } = plan;
  if (revision !== null && revision !== book.revision())
    return { kind: "stale", moved: "revision" };
  if (moment.ends !== undefined) applyHoldStep(book, moment.ends, moment.now);
  const moved = confirms.findIndex((one) => !isVersion(book.version(one), one.version));
  if (moved !== -1) return { kind: "stale", moved };
  const result = move(book, plan, moment);
  const counted = countedByCharge(plan, moment, result);
  if (counted !== null) book.addStatistics(counted);
  return result;
}

/** Takes the units and uses of a confirmed plan. */
function move<Counters>(
  book: WorkspaceBook<Counters>,
  { confirms, limits, uses, ...plan }: ChargePlan,
  moment: ChargeMoment,
): ChargeResult {
  const owners = confirms.map((address) => book.counters(address));
  const ownerOf = (place: number | null) => (place === null ? null : (owners[place] ?? null));
  /** A limit of a record without counters is not counted. */
  const isCounted = ({ owner }: LimitCharge) => owner === null || ownerOf(owner) !== null;
  const drawn = ownerOf(uses);
  const uncounted = uses === null ? UNLIMITED_USES : NO_USES;
  const [first] = confirms;
  const { request } = moment;
  const { result, next } = applyCharge(
    {
      usage: drawn === null ? uncounted : book.usage(drawn),
      windows: limits.map((limit) =>
        isCounted(limit) ? book.window(ownerOf(limit.owner), limit.window) : null,
      ),
      remembered: request === undefined ? null : book.request(first, request.id),
      holds: owners.map((owner) => (owner === null ? undefined : book.usage(owner).holds)),
    },
    { confirms, limits, uses, ...plan },
    moment,
  );
  if (next === null) return result;
  if (drawn !== null) book.setUsage(drawn, next.usage);
  for (const [index, limit] of limits.entries()) {
    const window = next.windows[index] ?? null;
    if (window !== null && isCounted(limit))
      book.setWindow(ownerOf(limit.owner), limit.window, window, endsAt(window, limit));
  }
  const { holds = [], sums = [] } = next.held ?? {};
  for (const [place, owner] of owners.slice(0, sums.length).entries()) {
    if (owner === null) continue;
    for (const hold of holds) book.attach(hold, place, owner);
    book.setUsage(owner, { ...book.usage(owner), holds: sums[place] });
  }
  if (request !== undefined && next.remember !== null)
    book.setRequest(first, request.id, next.remember);
  return result;
}

/** Does what `KeyStore.settle` does. The store makes it one atomic step. */
export function plainSettle<Counters>(
  book: WorkspaceBook<Counters>,
  step: HoldStep,
  moment: HoldMoment,
): HoldResult {
  const { now, revision } = moment;
  if (revision !== null && revision !== book.revision()) return { kind: "stale" };
  const result = applyHoldStep(book, step, now);
  const counted = countedBySettle(moment, result);
  if (counted !== null) book.addStatistics(counted);
  return result;
}
