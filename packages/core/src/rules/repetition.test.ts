import fc from "fast-check";
import { expect, test } from "vitest";
import { isRemembered, mayBeForgotten, REMEMBERED_MS } from "./repetition.js";

const AT = 1_773_144_000_000;

test("a write is remembered for 24 hours, and no longer at exactly 24 hours", () => {
  expect(REMEMBERED_MS).toBe(24 * 60 * 60 * 1_000);
  for (const [after, remembers] of [
    [0, true],
    [REMEMBERED_MS - 1, true],
    [REMEMBERED_MS, false],
    [REMEMBERED_MS + 1, false],
  ] as const)
    expect(isRemembered(AT, AT + after)).toBe(remembers);
});

test("a clock that is set back does not make a write forgotten", () => {
  expect(isRemembered(AT, AT - 40 * REMEMBERED_MS)).toBe(true);
});

test("a remembered write may be deleted once its day has been over for another day by the store's clock", () => {
  const ended = AT + REMEMBERED_MS;
  const known = { at: AT, storedAt: AT };
  for (const [storeNow, may] of [
    [ended + REMEMBERED_MS - 1, false],
    [ended + REMEMBERED_MS, true],
    [ended + REMEMBERED_MS + 1, true],
  ] as const)
    expect(mayBeForgotten(known, ended, storeNow)).toBe(may);
  expect(mayBeForgotten(known, ended - 1, ended + REMEMBERED_MS)).toBe(false);
});

test("a write that still counts by the caller's clock, or is less than two days old by the store's, is never deleted", () => {
  const instant = fc.integer({ min: 0, max: 2 ** 50 });
  fc.assert(
    fc.property(instant, instant, instant, instant, (at, storedAt, now, storeNow) => {
      if (!mayBeForgotten({ at, storedAt }, now, storeNow)) return;
      expect(isRemembered(at, now)).toBe(false);
      expect(storeNow).toBeGreaterThanOrEqual(storedAt + 2 * REMEMBERED_MS);
    }),
  );
});
