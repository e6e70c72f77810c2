import { describe, expect, test } from "vitest";
import type { AppliedCharge, LimitCharge, LimitReading } from "../store/charge.js";
import { fixedWindows, loadedWith } from "../testing/records.js";
import { refillRetryAfterMs, retryAfterMs } from "./retry-after.js";

const NOW = 30_000;
const TILES: LimitCharge = {
  ...{ name: "tiles", ...fixedWindows(), cost: 1, window: "60000:tiles", owner: 0 },
};
const full: LimitReading = {
  ...{ name: "tiles", limit: 10, remaining: 0, resetAt: 60_000, exceeded: true },
  state: { at: 0, used: 10, earlier: [] },
};
const daily = { interval: "daily", amount: 5 } as const;

describe("the wait after a refusal", () => {
  const wait = (
    limits: readonly LimitReading[],
    { key = {}, taken = [TILES], remaining = null as number | null, cost = 1 } = {},
  ) => {
    const charge: AppliedCharge = { kind: "rate-limited", remaining, limits };
    return retryAfterMs(loadedWith(key), { limits: taken, cost }, charge, NOW);
  };

  test("ends when each limit that refused has room", () => {
    expect(wait([full])).toBe(30_000);
    const longer = { ...TILES, name: "hour", window: "90000:hour", duration: 90_000 };
    const slow = { ...full, name: "hour", resetAt: 90_000 };
    expect(wait([full, slow], { taken: [TILES, longer] })).toBe(60_000);
    expect(wait([slow, full], { taken: [TILES, longer] })).toBe(60_000);
  });

  test("is null if nothing refused, or if waiting does not help", () => {
    expect(wait([])).toBeNull();
    expect(wait([{ ...full, exceeded: false }])).toBeNull();
    expect(wait([full], { taken: [{ ...TILES, shadow: true }] })).toBeNull();
    expect(wait([full], { taken: [{ ...TILES, cost: 11 }] })).toBeNull();
    expect(wait([full], { taken: [] })).toBeNull();
  });

  test("ignores a limit that did not refuse, even if it was removed since", () => {
    const free = { ...full, name: "gone", exceeded: false };
    expect(wait([free, full])).toBe(30_000);
  });

  test("includes the refill if uses are missing, and ends exactly with it", () => {
    const untilMidnight = 86_400_000 - NOW;
    const key = { refill: daily };
    expect(wait([], { key, remaining: 0 })).toBe(untilMidnight);
    expect(wait([full], { key, remaining: 0 })).toBe(untilMidnight);
    expect(wait([full], { key, remaining: 1 })).toBe(30_000);
    expect(wait([full], { key, remaining: 1, cost: 2 })).toBe(untilMidnight);
    expect(wait([full], { remaining: 0 })).toBeNull();
    expect(wait([full], { key, remaining: 0, cost: 6 })).toBeNull();
  });

  test("is null if the key expires before, also for lack of use", () => {
    expect(wait([full], { key: { expires: 60_000 } })).toBeNull();
    expect(wait([full], { key: { expires: 60_001 } })).toBe(30_000);
    const idle = (expiresWhenUnused: number) => ({ createdAt: 0, expiresWhenUnused });
    expect(wait([full], { key: idle(60_000) })).toBeNull();
    expect(wait([full], { key: idle(60_001) })).toBe(30_000);
  });
});

describe("the wait for a refill", () => {
  test("is null without one, for more than it restores, and if no date is that late", () => {
    expect(refillRetryAfterMs(null, 0, 1, NOW, NOW)).toBeNull();
    expect(refillRetryAfterMs(daily, 0, 6, NOW, NOW)).toBeNull();
    const last = 8_640_000_000_000_000;
    expect(refillRetryAfterMs(daily, 0, 1, last, last)).toBeNull();
  });

  test("begins at the instant up to which refills are applied, and a cost of 0 needs one use left", () => {
    expect(refillRetryAfterMs(daily, 0, 0, NOW, NOW)).toBe(86_400_000 - NOW);
    expect(refillRetryAfterMs(daily, 0, 5, 86_400_000, NOW)).toBe(2 * 86_400_000 - NOW);
  });
});
