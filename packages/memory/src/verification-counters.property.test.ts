import { COUNTED_CODES, COUNTER_SPAN_MS, type SubjectCount } from "@latchkey/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { VerificationCounters } from "./verification-counters.js";

const DAY_MS = 24 * COUNTER_SPAN_MS;
const SUBJECT = { kind: "key", id: "key_1" } as const;

const hourAt = fc.nat({ max: 100 }).map((hour) => hour * COUNTER_SPAN_MS);
const count: fc.Arbitrary<SubjectCount> = fc.record({
  subject: fc.record({
    kind: fc.constantFrom("key" as const, "identity" as const),
    id: fc.constantFrom("key_1", "key_2"),
  }),
  hourAt,
  code: fc.constantFrom(...COUNTED_CODES),
  count: fc.integer({ min: 1, max: 9 }),
});

function sum(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, one) => total + one.count, 0);
}

test("what is read of a subject is what was added to it in those hours, in ascending order", () => {
  fc.assert(
    fc.property(fc.array(count), hourAt, hourAt, (counts, startAt, endAt) => {
      const counters = new VerificationCounters();
      for (const one of counts) counters.add(one);
      const read = counters.read(SUBJECT, startAt, endAt);
      const added = counts.filter(
        ({ subject, hourAt: at }) =>
          subject.kind === "key" && subject.id === "key_1" && at >= startAt && at < endAt,
      );
      expect(sum(read)).toBe(sum(added));
      const places = read.map(({ hourAt: at, code }) => `${String(at).padStart(12, "0")} ${code}`);
      expect(places).toEqual([...new Set(places)].sort());
      for (const { hourAt: at, code, count: total } of read) {
        const same = added.filter((one) => one.hourAt === at && one.code === code);
        expect(total).toBe(sum(same));
      }
    }),
  );
});

test("forgetting step by step forgets all that lies before the day, counts it, and nothing else", () => {
  fc.assert(
    fc.property(
      fc.array(count),
      fc.nat({ max: 5 }),
      fc.integer({ min: 1, max: 4 }),
      (counts, day, limit) => {
        const counters = new VerificationCounters();
        for (const one of counts) counters.add(one);
        let deleted = 0;
        for (let hasMore = true; hasMore; ) {
          const removal = counters.delete(day * DAY_MS, limit);
          deleted += removal.deleted;
          hasMore = removal.hasMore;
        }
        const old = counts.filter(({ hourAt: at }) => at < day * DAY_MS);
        const places = old.map((one) => JSON.stringify([one.subject, one.hourAt, one.code]));
        expect(deleted).toBe(new Set(places).size);
        expect(counters.read(SUBJECT, 0, day * DAY_MS)).toEqual([]);
        const kept = counts.filter(
          ({ subject, hourAt: at }) =>
            subject.kind === "key" && subject.id === "key_1" && at >= day * DAY_MS,
        );
        expect(sum(counters.read(SUBJECT, 0, 1_000 * DAY_MS))).toBe(sum(kept));
      },
    ),
  );
});
