import fc from "fast-check";
import { expect, test } from "vitest";
import { LAST_INSTANT } from "../../time.js";
import { type IdleFields, idleExpiresAt, isExpired, mustStoreUse } from "./lifecycle.js";

const instant = fc.integer({ min: 0, max: 100 });
const fields: fc.Arbitrary<IdleFields> = fc.record({
  expiresWhenUnused: fc.option(fc.integer({ min: 1, max: 50 })),
  createdAt: instant,
  startsAt: fc.option(instant),
  idleFrom: fc.option(instant),
});

test("a key expires its whole span after the latest of creation, start, return and use, and never without a span", () => {
  fc.assert(
    fc.property(fields, fc.option(instant), (key, usedAt) => {
      const { expiresWhenUnused, createdAt, startsAt, idleFrom } = key;
      const since = Math.max(createdAt, startsAt ?? 0, idleFrom ?? 0, usedAt ?? 0);
      const dies = expiresWhenUnused === null ? null : since + expiresWhenUnused;
      expect(idleExpiresAt(key, usedAt)).toBe(dies);
    }),
  );
});

test("a key that was used within half of its span is alive by the uses that had to be stored", () => {
  fc.assert(
    fc.property(fields, fc.array(instant), instant, (key, uses, after) => {
      let stored: number | null = null;
      let latest: number | null = null;
      for (const at of uses.sort((one, other) => one - other)) {
        if (isExpired(idleExpiresAt(key, stored), at)) continue;
        latest = at;
        if (mustStoreUse(key, stored, at)) stored = at;
      }
      if (latest === null || key.expiresWhenUnused === null) return;
      const now = latest + Math.min(after, Math.ceil(key.expiresWhenUnused / 2) - 1);
      expect(isExpired(idleExpiresAt(key, stored), now)).toBe(false);
    }),
  );
});

test("a use must be stored from half of the span on, not before, and never for a key without a span", () => {
  fc.assert(
    fc.property(
      fields,
      fc.option(instant),
      fc.integer({ min: 1, max: 25 }),
      (key, usedAt, half) => {
        const of = (expiresWhenUnused: number | null, now: number) =>
          mustStoreUse({ ...key, expiresWhenUnused }, usedAt, now);
        const since = (idleExpiresAt({ ...key, expiresWhenUnused: 1 }, usedAt) as number) - 1;
        expect(of(2 * half, since + half - 1)).toBe(false);
        expect(of(2 * half, since + half)).toBe(true);
        expect(of(null, since + half)).toBe(false);
      },
    ),
  );
});

test("a span beyond the last instant of a date ends there", () => {
  const key = { createdAt: 5, startsAt: null, idleFrom: null, expiresWhenUnused: 2 ** 52 };
  expect(idleExpiresAt(key, LAST_INSTANT - 1)).toBe(LAST_INSTANT);
});
