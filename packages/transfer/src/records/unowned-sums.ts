import {
  type EpochMs,
  type HourCount,
  type KeyStore,
  STATISTICS_SPAN_MS,
  type StatisticsSubject,
  SUBJECT_CODE,
  type SubjectCount,
} from "@latchkey/core";
import type { OwnedSubjects } from "./owned-subjects.js";

/** The sums of one day of a subject whose record was deleted. */
export interface UnownedSums {
  readonly subject: StatisticsSubject;
  /** Start of a UTC day, Unix epoch ms. */
  readonly dayAt: EpochMs;
  /** In ascending order of the hour and the code. */
  readonly sums: readonly HourCount[];
}

/** The length of a UTC day, in ms. */
export const DAY_MS = 24 * STATISTICS_SPAN_MS;

/** The kinds of subjects, in the order in which their sums are read. */
export const SUBJECT_KINDS = Object.keys(SUBJECT_CODE) as readonly StatisticsSubject["kind"][];

/** Subjects that are read at once. */
const PAGE_SIZE = 500;

/**
 * The sums of a workspace whose subjects are gone, a few subjects at a time, in the order of {@link compareUnowned}.
 *
 * @param owned - Subjects whose record was read. The others are looked up, because they may have been created since.
 */
export async function* readUnownedSums(
  store: KeyStore,
  workspaceId: string,
  owned: OwnedSubjects,
): AsyncGenerator<readonly UnownedSums[]> {
  // A store written for an earlier version cannot tell which days have sums.
  if (!("nextStatisticsDay" in store)) return;
  for (let from: EpochMs = 0; ; ) {
    const day = await store.nextStatisticsDay(workspaceId, from);
    if (day === null) return;
    from = day + DAY_MS;
    for (const kind of SUBJECT_KINDS)
      for (let first: string | null = ""; first !== null; ) {
        const want = { kind, dayAt: day, from: first, limit: PAGE_SIZE };
        const { sums, hasMore } = await store.pageStatistics(workspaceId, want);
        const found = bySubject(sums);
        const ids = [...found.keys()];
        const candidates = ids.filter((id) => !owned.has({ kind, id }));
        const gone = await withoutRecords(store, workspaceId, kind, candidates);
        if (gone.length > 0)
          yield gone.map((id) => {
            return { subject: { kind, id }, dayAt: day, sums: inOrder(found.get(id) ?? []) };
          });
        // Ids have no space.
        first = hasMore && ids.length > 0 ? `${ids.at(-1)} ` : null;
      }
  }
}

function bySubject(sums: readonly SubjectCount[]): ReadonlyMap<string, readonly HourCount[]> {
  const found = new Map<string, HourCount[]>();
  for (const { subject, ...sum } of sums) {
    const own = found.get(subject.id) ?? [];
    own.push(sum);
    found.set(subject.id, own);
  }
  return found;
}

async function withoutRecords(
  store: KeyStore,
  workspaceId: string,
  kind: StatisticsSubject["kind"],
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const { found } = await store.read(
    workspaceId,
    ids.map((id) => ({ kind, id })),
  );
  return ids.filter((_, index) => found[index] === null);
}

/** Stores may return any order within an hour. */
export function inOrder(sums: readonly HourCount[]): readonly HourCount[] {
  return [...sums].sort(
    (one, other) => one.hourAt - other.hourAt || (one.code < other.code ? -1 : 1),
  );
}

/** Orders by day, then kind, then id. Below 0 if `one` comes first. */
export function compareUnowned(one: UnownedSums, other: UnownedSums): number {
  const kindOf = ({ subject }: UnownedSums) => SUBJECT_KINDS.indexOf(subject.kind);
  const days = one.dayAt - other.dayAt || kindOf(one) - kindOf(other);
  if (days !== 0 || one.subject.id === other.subject.id) return days;
  return one.subject.id < other.subject.id ? -1 : 1;
}

/** The sums as one text, as in a line of a backup. */
export function unownedText({ subject: { kind, id }, sums }: UnownedSums): string {
  return JSON.stringify({
    counted: id,
    of: kind,
    sums: sums.map(sumFields),
  });
}

/** A sum, as in texts and backups. */
export function sumFields({ hourAt, code, count }: HourCount): readonly (number | string)[] {
  return [hourAt, code, count];
}
