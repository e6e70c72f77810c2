import { describe, expect, test } from "vitest";
import type { LimitState } from "./limit-state.js";
import {
  bucketAfterLease,
  bucketAfterReturn,
  bucketAfterTaking,
  bucketAt,
} from "./token-bucket.js";

/** Ten units, of which one flows in per 100 ms. */
const BUCKET = { limit: 10, duration: 1_000, burst: 10 };
const NOW = 50_000;

/** A bucket from which this many units are missing. */
const missing = (units: number, earlier: readonly number[] = []): LimitState => ({
  at: NOW,
  used: units * BUCKET.duration,
  earlier,
});

describe("a bucket with units held by leases", () => {
  test("fills to its burst minus these", () => {
    const at = (ms: number) => bucketAt(missing(7, [4]), BUCKET, NOW + ms);
    expect(at(299)).toEqual({ ...missing(7, [4]), at: NOW + 299, used: 4_010 });
    for (const ms of [300, 301, 10_000])
      expect(at(ms)).toEqual({ ...missing(4, [4]), at: NOW + ms });
  });

  test("does not fill if nothing else is missing, and gets no fuller if less is", () => {
    for (const units of [4, 3])
      for (const earlier of [[4], [4, 700, 9]])
        expect(bucketAt(missing(units, earlier), BUCKET, NOW + 500)).toEqual({
          at: NOW + 500,
          used: 4_000,
          earlier,
        });
  });

  test("knows how many, and forgets them when the last one is returned", () => {
    expect(bucketAfterTaking(missing(1), BUCKET, 3, 3, false)).toEqual(missing(4, [3]));
    expect(bucketAfterTaking(missing(4, [3]), BUCKET, 2, 2, false)).toEqual(missing(6, [5]));
    expect(bucketAfterTaking(missing(4, [3]), BUCKET, 2, 0, false)).toEqual(missing(6, [3]));
    const lease = { rate: 10, units: 3 };
    expect(bucketAfterLease(missing(5, [3]), BUCKET, lease, 3, NOW)).toEqual(missing(2));
    expect(bucketAfterLease(missing(7, [5]), BUCKET, lease, 1, NOW)).toEqual(missing(6, [2]));
  });
});

describe("a bucket with reserved units", () => {
  test("counts inflow from then on, and no inflow without room", () => {
    const reserved = bucketAfterTaking(missing(0), BUCKET, 4, 0, true);
    expect(reserved).toEqual(missing(4, [0, 0, NOW]));
    expect(bucketAt(reserved, BUCKET, NOW + 100).earlier).toEqual([0, 1_000, NOW]);
    expect(bucketAt(reserved, BUCKET, NOW + 5_000).earlier).toEqual([0, 4_000, NOW]);
    expect(bucketAt(reserved, BUCKET, NOW)).toEqual(reserved);
    const again = bucketAfterTaking({ ...reserved, earlier: [2, 7, NOW] }, BUCKET, 1, 0, true);
    expect(again.earlier).toEqual([2, 7, NOW]);
  });

  test("counts nothing if nothing was taken", () => {
    expect(bucketAfterTaking(missing(1), BUCKET, 0, 0, true)).toEqual(missing(1));
    expect(bucketAfterTaking(missing(1), BUCKET, 2, 0, false)).toEqual(missing(3));
  });

  test("restarts its counter if that would exceed the whole numbers", () => {
    const counted = (flowed: number) =>
      bucketAt(missing(4, [0, flowed, 7]), BUCKET, NOW + 100).earlier;
    expect(counted(Number.MAX_SAFE_INTEGER - 1_000)).toEqual([0, Number.MAX_SAFE_INTEGER, 7]);
    expect(counted(Number.MAX_SAFE_INTEGER - 999)).toEqual([0, 0, NOW + 100]);
  });
});

describe("units that come back to a bucket", () => {
  const held = { at: NOW - 400, rate: 10, flowed: 500 };

  test("are those that have not flowed in since, by the inflow counter", () => {
    const back = (flowed: number) =>
      bucketAfterReturn(missing(9, [0, flowed, 0]), BUCKET, held, 4, NOW);
    expect(back(500).used).toBe(5_000);
    expect(back(1_500).used).toBe(6_000);
    expect(back(4_499).used).toBe(8_999);
    for (const flowed of [4_500, 4_501]) expect(back(flowed)).toEqual(missing(9, [0, flowed, 0]));
  });

  test.each([
    ["it counts nothing", [], held],
    ["it counts since later", [0, 9_000, held.at + 1], held],
    ["it did not say what it had counted", [0, 9_000, 0], { ...held, flowed: undefined }],
  ])("are computed from the rate if %s", (_, earlier, from) => {
    // In 400 ms four have flowed in.
    const back = (units: number) =>
      bucketAfterReturn(missing(9, earlier), BUCKET, from, units, NOW);
    expect(back(6).used).toBe(7_000);
    expect(back(5).used).toBe(8_000);
    for (const units of [4, 3]) expect(back(units)).toEqual(missing(9, earlier));
    const ahead = { ...missing(9, earlier), at: NOW + 100 };
    expect(bucketAfterReturn(ahead, BUCKET, from, 6, NOW - 300).used).toBe(8_000);
  });

  test("leave the units that leases hold, and fill no bucket beyond its burst", () => {
    const now = { ...held, at: NOW, flowed: undefined };
    expect(bucketAfterReturn(missing(5, [3]), BUCKET, now, 4, NOW).used).toBe(3_000);
    expect(bucketAfterReturn(missing(5), BUCKET, now, 9, NOW).used).toBe(0);
  });
});
