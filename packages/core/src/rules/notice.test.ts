import fc from "fast-check";
import { expect, test } from "vitest";
import { LAST_INSTANT } from "../time.js";
import { DURATION_ERROR } from "./duration.js";
import type { LimitFigures } from "./limit-state.js";
import {
  lowUses,
  nearUnits,
  noticeOfExpiry,
  periodOfLimit,
  periodOfUses,
  readNoticeSettings,
  rememberNoticedUntil,
} from "./notice.js";

const DAY_MS = 86_400_000;
const [MONDAY, TUESDAY] = [Date.UTC(2026, 2, 2), Date.UTC(2026, 2, 3)];

/** A number of hundredths, and the number that it is a share of: the product is often a whole number. */
const shares = fc.tuple(
  fc.integer({ min: 1, max: 99 }),
  fc
    .tuple(fc.integer({ min: 1, max: 1e9 }), fc.constantFrom(1, 10, 100, 1_000))
    .map(([count, each]) => count * each),
);

const daily = (amount: number) => ({ interval: "daily", amount }) as const;

function limited(limit: number, more: Partial<LimitFigures> = {}): LimitFigures {
  return { algorithm: "fixed", limit, duration: DAY_MS, burst: 1, ...more };
}

test("the defaults are seven days, never, and four fifths", () => {
  const usual = { expiresWithin: 7 * DAY_MS, usesBelow: null, limitAbove: 0.8 };
  expect(readNoticeSettings()).toEqual({ ...usual, writesByItself: false });
  expect(readNoticeSettings({})).toEqual({ ...usual, writesByItself: true });
});

test("settings are read as given, also at their bounds", () => {
  const given = { expiresWithin: "1h", usesBelow: 1, limitAbove: 0.999 };
  const read = { expiresWithin: 3_600_000, usesBelow: 1, limitAbove: 0.999, writesByItself: true };
  expect(readNoticeSettings(given)).toEqual(read);
  expect(readNoticeSettings({ usesBelow: null }).usesBelow).toBeNull();
});

const USES_ERROR = '"notice.usesBelow" must be a whole number >= 1, or a share between 0 and 1';
const LIMIT_ERROR = '"notice.limitAbove" must be a share between 0 and 1';

test.each<[notice: unknown, message: string]>([
  [null, '"notice" must be an object of options'],
  ["1d", '"notice" must be an object of options'],
  [{ expiresIn: 1 }, '"notice.expiresIn" is not an option'],
  [{ expiresWithin: "soon" }, `"notice.expiresWithin" ${DURATION_ERROR}`],
  ...[0, -1, -0.5, 1.5, Number.NaN, Infinity, 2 ** 53, "5"].map((usesBelow): [unknown, string] => [
    { usesBelow },
    USES_ERROR,
  ]),
  ...[0, -0.5, 1, 1.5, Number.NaN, "0.5", null].map((limitAbove): [unknown, string] => [
    { limitAbove },
    LIMIT_ERROR,
  ]),
])("settings such as %j are refused", (notice, message) => {
  expect(() => readNoticeSettings(notice)).toThrow(new TypeError(message));
});

test("uses are low below exactly the share, and a limit is near above exactly the share, despite rounding", () => {
  fc.assert(
    fc.property(shares, fc.integer({ min: -1, max: 1 }), ([hundredths, whole], beside) => {
      const share = hundredths / 100;
      const exact = BigInt(hundredths) * BigInt(whole);
      const count = Number(exact / 100n) + beside;
      const settings = readNoticeSettings({ usesBelow: share, limitAbove: share });
      const hundredfold = BigInt(count) * 100n;
      expect(count < lowUses(settings, daily(whole))).toBe(hundredfold < exact);
      expect(count > nearUnits(settings, limited(whole))).toBe(hundredfold > exact);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["a number, whatever the refill", 100, null, 100],
  ["the last use: 1 is a number, and no share", 1, null, 1],
  ["a share of what the refill brings", 0.1, daily(50), 5],
  ["never without a refill to take a share of", 0.1, null, 0],
  ["never by default", undefined, daily(50), 0],
] as const)("uses are low below %s", (_, usesBelow, refill, uses) => {
  expect(lowUses(readNoticeSettings({ usesBelow }), refill)).toBe(uses);
});

test("a limit is near above a share of its capacity: of a bucket, its burst", () => {
  const settings = readNoticeSettings();
  expect(nearUnits(settings, limited(100))).toBe(80);
  expect(nearUnits(settings, limited(100, { algorithm: "token-bucket", burst: 10 }))).toBe(8);
});

test("a key expires soon from that long before its expiry on, and has expired from the expiry on", () => {
  const settings = readNoticeSettings({ expiresWithin: "1d" });
  const noticed = [TUESDAY - DAY_MS - 1, TUESDAY - DAY_MS, TUESDAY - 1, TUESDAY].map((now) =>
    noticeOfExpiry(TUESDAY, now, settings),
  );
  expect(noticed).toEqual([null, "key.expiresSoon", "key.expiresSoon", "key.hasExpired"]);
});

test.each([
  ["from the last refill to the next", daily(5), MONDAY, MONDAY + 7, MONDAY, TUESDAY],
  [
    "from when they were set to the next refill",
    daily(5),
    MONDAY + 5,
    MONDAY + 7,
    MONDAY + 5,
    TUESDAY,
  ],
  ["the day in UTC without a refill", null, MONDAY - 9, MONDAY + 7, MONDAY, TUESDAY],
  ["the day in UTC from when they were set on", null, MONDAY + 5, MONDAY + 7, MONDAY + 5, TUESDAY],
  ["without end if no refill comes any more", daily(5), 0, LAST_INSTANT, 0, LAST_INSTANT],
])("the period of uses is %s", (_, refill, refilledAt, now, startAt, endAt) => {
  expect(periodOfUses(refill, refilledAt, now)).toEqual({ startAt, endAt });
});

test.each([
  ["its window", limited(1), MONDAY, MONDAY, TUESDAY],
  [
    "a window that begins on no multiple of its duration",
    limited(1),
    MONDAY + 5,
    MONDAY + 5,
    TUESDAY + 5,
  ],
  [
    "one of its duration if it has no windows",
    limited(1, { algorithm: "sliding" }),
    MONDAY + 5,
    MONDAY,
    TUESDAY,
  ],
  ["not later than dates are", limited(1), LAST_INSTANT - 5, LAST_INSTANT - 5, LAST_INSTANT],
])("the period of a limit is %s", (_, limit, at, startAt, endAt) => {
  expect(periodOfLimit(limit, at)).toEqual({ startAt, endAt });
});

test("a notice is remembered for a day after its period, and not beyond the last date", () => {
  const until = (endAt: number) => rememberNoticedUntil({ startAt: MONDAY, endAt });
  expect(until(TUESDAY)).toBe(TUESDAY + DAY_MS);
  expect(until(LAST_INSTANT - 1)).toBe(LAST_INSTANT);
});
