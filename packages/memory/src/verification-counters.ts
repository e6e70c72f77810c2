import {
  COUNTED_CODES,
  COUNTER_SPAN_MS,
  type CountedCode,
  type CountSubject,
  type EpochMs,
  type HourCount,
  type Removal,
  type SubjectCount,
} from "@latchkey/core";

const HOURS_PER_DAY = 24;
const DAY_MS = HOURS_PER_DAY * COUNTER_SPAN_MS;

const CODES: readonly CountedCode[] = [...COUNTED_CODES].sort();

/** Counts of one subject in one day, by {@link slotOf}. Only those that are not 0. */
type DayCounts = Map<number, number>;

/**
 * The counters of verifications of one workspace: by day of UTC, since they are forgotten by day, and then by
 * subject.
 */
export class VerificationCounters {
  readonly #days = new Map<EpochMs, Map<string, DayCounts>>();

  add({ subject, hourAt, code, count }: SubjectCount): void {
    const counts = this.#countsOf(dayOf(hourAt), nameOf(subject));
    const slot = slotOf(hourAt, code);
    counts.set(slot, (counts.get(slot) ?? 0) + count);
  }

  /** Counts of the hours from `startAt`, included, to `endAt`, not included: by hour, then by code. */
  read(subject: CountSubject, startAt: EpochMs, endAt: EpochMs): readonly HourCount[] {
    const name = nameOf(subject);
    return this.#daysInOrder()
      .filter((dayAt) => dayAt < endAt && dayAt + DAY_MS > startAt)
      .flatMap((dayAt) => hourCounts(dayAt, this.#days.get(dayAt)?.get(name)))
      .filter(({ hourAt }) => hourAt >= startAt && hourAt < endAt);
  }

  /** Forgets days before `beforeAt`, until `limit` counters are gone or a few more: those of one subject and day go together. */
  delete(beforeAt: EpochMs, limit: number): Removal {
    let deleted = 0;
    for (const dayAt of this.#daysInOrder()) {
      if (dayAt >= beforeAt) break;
      const subjects = this.#days.get(dayAt) as Map<string, DayCounts>;
      for (const [name, counts] of subjects) {
        if (deleted >= limit) return { deleted, hasMore: true };
        subjects.delete(name);
        deleted += counts.size;
      }
      this.#days.delete(dayAt);
    }
    return { deleted, hasMore: false };
  }

  #daysInOrder(): readonly EpochMs[] {
    return [...this.#days.keys()].sort((one, other) => one - other);
  }

  #countsOf(dayAt: EpochMs, name: string): DayCounts {
    const day = this.#days.get(dayAt) ?? new Map<string, DayCounts>();
    const counts = day.get(name) ?? new Map<number, number>();
    this.#days.set(dayAt, day.set(name, counts));
    return counts;
  }
}

/** The kind comes first and holds no space, whereas an id may hold any character. */
function nameOf({ kind, id }: CountSubject): string {
  return `${kind} ${id}`;
}

function dayOf(hourAt: EpochMs): EpochMs {
  return hourAt - (hourAt % DAY_MS);
}

/** Place of an hour and a code in the day, in ascending order of both. */
function slotOf(hourAt: EpochMs, code: CountedCode): number {
  const hour = (hourAt % DAY_MS) / COUNTER_SPAN_MS;
  return hour * CODES.length + CODES.indexOf(code);
}

function hourCounts(dayAt: EpochMs, counts: DayCounts | undefined): readonly HourCount[] {
  if (counts === undefined) return [];
  const inOrder = [...counts].sort(([one], [other]) => one - other);
  return inOrder.map(([slot, count]) => ({
    hourAt: dayAt + Math.floor(slot / CODES.length) * COUNTER_SPAN_MS,
    code: CODES[slot % CODES.length] as CountedCode,
    count,
  }));
}
