import fc from "fast-check";
import { expect, test } from "vitest";
import { type LogPosition, placeOf, readLog } from "./log-reading.js";

interface Entry {
  readonly version: number;
  readonly id: string;
}

/** A log as simply as possible, with everything that ever was in it. */
class Log {
  entries: Entry[] = [];
  ever: string[] = [];
  last = 1;
  deletions = 0;

  append(): void {
    this.last += 1;
    this.entries.push({ version: this.last, id: `evt_${this.last}` });
    this.ever.push(`evt_${this.last}`);
  }

  delete(place: number): void {
    if (this.entries.length > 0) this.#splice(place % this.entries.length, 1);
  }

  prune(count: number): void {
    this.#splice(0, count);
  }

  #splice(place: number, count: number): void {
    this.deletions += this.entries.splice(place, count).length;
  }

  /** Whether entries after an existing one were deleted. */
  get hasGaps(): boolean {
    const { version } = this.entries[0] ?? { version: this.last + 1 };
    return this.entries.length <= this.last - version;
  }

  partFrom(after: LogPosition | null, limit: number) {
    const { version, id } = placeOf(after);
    const rest = this.entries.filter(
      (one) => one.version > version || (one.version === version && one.id >= id),
    );
    const { length: size } = this.entries;
    return { entries: rest.slice(0, limit), hasMore: rest.length > limit, size, last: this.last };
  }
}

const OLD = Array.from({ length: 3 }, (_, number) => ({ version: 1, id: `evt_0${number}` }));

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({ kind: "append" as const }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("delete" as const), place: fc.nat(20) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("prune" as const), count: fc.nat(4) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("read" as const),
        limit: fc.integer({ min: 2, max: 5 }),
      }),
    },
  ),
  { maxLength: 60 },
);

test("V1: a reader gets every entry after those that it has read, or is refused", () => {
  fc.assert(
    fc.property(steps, fc.boolean(), (all, hasOld) => {
      const log = new Log();
      if (hasOld) log.entries.push(...OLD);
      let position: LogPosition | null = null;
      let owed: Entry[] = [];
      let began = { hasGaps: false, deletions: 0 };
      for (const step of all) {
        if (step.kind === "append") {
          log.append();
          if (position !== null) owed.push(log.entries.at(-1) as Entry);
        } else if (step.kind === "delete" && !hasOld) log.delete(step.place);
        else if (step.kind === "prune") log.prune(step.count);
        else if (step.kind === "read") {
          if (position === null) {
            owed = [...log.entries];
            began = { hasGaps: log.hasGaps, deletions: log.deletions };
          }
          const isMissed = owed.some((one) => !log.entries.includes(one));
          const isNextMissed = owed[0] !== undefined && !log.entries.includes(owed[0]);
          const hasDoubts = began.hasGaps && began.deletions < log.deletions;
          const part = log.partFrom(position, step.limit);
          const reading = readLog(position, part);
          if (reading.kind !== "read") {
            expect(reading.kind).toBe("pruned");
            // A gap that was there before counts as soon as anything is deleted. Without numbers, the entry that was read last tells.
            const isOld = hasOld && (position as LogPosition | null)?.version === 1;
            if (!isOld) expect(isNextMissed || hasDoubts).toBe(true);
            [position, owed] = [null, []];
            continue;
          }
          const given = part.entries.slice(reading.from, reading.until);
          expect(given).toEqual(owed.slice(0, given.length));
          if (owed.length > 0) expect(given.length).toBeGreaterThan(0);
          owed = owed.slice(given.length);
          if (!part.hasMore && !isMissed && !hasDoubts) {
            expect(owed).toEqual([]);
            began.hasGaps = false;
          }
          position = reading.end;
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("an entry with an unreadable number is not a gap", () => {
  const [two, damaged, four] = [2, 0, 4].map((version, at) => ({ version, id: `evt_${at}` }));
  const entries = [two, damaged, four] as Entry[];
  const position = { version: 2, id: "evt_0", deleted: 0 };
  const reading = readLog(position, { entries, hasMore: false, size: 3, last: 4 });
  expect(reading).toMatchObject({ kind: "read", from: 1, until: 3 });
});

test("a log that went back to an earlier state cannot be read from a later position", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 20 }),
      (before, after) => {
        const position = { version: before + after + 1, id: `evt_lost${after}`, deleted: 1 };
        const log = new Log();
        for (let count = 0; count < before + after; count += 1) {
          if (count >= before)
            expect(readLog(position, log.partFrom(position, 5)).kind).toBe("unknown");
          log.append();
        }
        expect(readLog(position, log.partFrom(position, 5)).kind).toBe("unknown");
      },
    ),
  );
});
