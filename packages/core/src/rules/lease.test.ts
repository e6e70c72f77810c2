import { expect, test } from "vitest";
import { isLeaseAlive, readLeases, verificationsAhead } from "./lease.js";

const SINCE = { steady: 1_000, wall: 5_000 };

test.each([
  [399, 399, true],
  [400, 399, false],
  [399, 400, false],
  [0, 0, true],
  // One clock stands still while a machine sleeps; the other one shows it.
  [0, 3_600_000, false],
  [3_600_000, 0, false],
])(
  "%i ms later by the steady clock and %i ms by the wall clock, a lease of 500 ms is alive: %s",
  (steady, wall, alive) => {
    const now = { steady: SINCE.steady + steady, wall: SINCE.wall + wall };
    expect(isLeaseAlive(SINCE, now, 500)).toBe(alive);
  },
);

test("clocks that run 11 % too fast or too slow end it before a change has waited long enough for it", () => {
  // The slowest clock lets a lease last longest; the fastest lets a change wait least.
  expect((500 * 0.8) / (1 - 0.11)).toBeLessThan(500 / (1 + 0.11));
});

test.each([
  // left, each, held, share, holders, verifications
  [100, 1, 0, 0.01, 1, 1],
  [99, 1, 0, 0.5, 1, 0],
  [1_000, 1, 0, 0.01, 1, 10],
  [1_099, 1, 0, 0.01, 1, 10],
  [1_000, 3, 0, 0.01, 1, 3],
  [1_000, 3, 1, 0.01, 1, 3],
  [1_000, 3, 2, 0.01, 1, 2],
  [1_000, 1, 10, 0.01, 1, 0],
  // More than its share, because less is left than before.
  [1_000, 1, 50, 0.01, 1, 0],
  // A share is one of three, or of four: at most what it says.
  [400, 1, 0, 0.34, 1, 133],
  [400, 1, 0, 0.33, 1, 100],
  [400, 1, 0, 1, 1, 400],
  [400, 1, 0, 0, 1, 0],
  [299, 1, 0, 0.5, 3, 0],
  [300, 1, 0, 0.5, 3, 150],
])(
  "of %i units, %i for each verification, a process with %i of them and a share of %d among %i takes enough for %i",
  (left, each, held, share, holders, verifications) => {
    expect(verificationsAhead(left, each, held, share, holders)).toBe(verifications);
  },
);

test("returns how long a lease is, and a share of a hundredth of what is left by default", () => {
  expect(readLeases({ ms: "1s" })).toEqual({ ms: 1_000, share: 0.01 });
  expect(readLeases({ ms: 10, share: 0 })).toEqual({ ms: 10, share: 0 });
  expect(readLeases({ ms: 10_000, share: 1 })).toEqual({ ms: 10_000, share: 1 });
});

test.each([
  [null, '"leases" must be'],
  ["1s", '"leases" must be'],
  [{ ms: 100, shares: 0.1 }, '"leases.shares" is not an option'],
  [{}, '"leases.ms" must be a whole number from 10 to 10000'],
  [{ ms: 9 }, '"leases.ms"'],
  [{ ms: 10_001 }, '"leases.ms"'],
  [{ ms: 100, share: -0.1 }, '"leases.share" must be a number from 0 to 1'],
  [{ ms: 100, share: 1.1 }, '"leases.share"'],
  [{ ms: 100, share: Number.NaN }, '"leases.share"'],
  [{ ms: 100, share: "0.1" }, '"leases.share"'],
])("refuses %j", (leases, message) => {
  expect(() => readLeases(leases)).toThrow(message);
});
