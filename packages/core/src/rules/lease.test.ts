import { expect, test } from "vitest";
import { isLeaseAlive } from "./lease.js";

const SINCE = { steady: 1_000, wall: 5_000 };

test.each([
  [399, 399, true],
  [400, 399, false],
  [399, 400, false],
  [0, 0, true],
  // A clock that stands still, of a machine that slept: the other one shows it.
  [0, 3_600_000, false],
  [3_600_000, 0, false],
])(
  "%i ms later by the steady clock and %i ms by the wall clock, a lease of 500 ms is alive: %s",
  (steady, wall, alive) => {
    const now = { steady: SINCE.steady + steady, wall: SINCE.wall + wall };
    expect(isLeaseAlive(SINCE, now, 500)).toBe(alive);
  },
);

test("clocks that run 11 % too fast or too slow end it before a change has waited for it", () => {
  // The slowest clock lets a lease last longest; the fastest lets a change wait least.
  expect((500 * 0.8) / (1 - 0.11)).toBeLessThan(500 / (1 + 0.11));
});
