import fc from "fast-check";
import { expect, test } from "vitest";
import { ExpiringMap } from "./expiring-map.js";

test("a value is kept up to its instant", () => {
  const map = new ExpiringMap<number>();
  map.set("a", 1, 100, 0);
  for (let now = 0; now <= 100; now += 1) map.set(`other ${now}`, now, now, now);
  expect(map.get("a")).toBe(1);
});

test("a value that is set again is kept up to the later instant", () => {
  const map = new ExpiringMap<number>();
  map.set("a", 1, 100, 0);
  map.set("a", 2, 200, 50);
  for (let now = 101; now <= 200; now += 1) map.set(`other ${now}`, now, now, now);
  expect(map.get("a")).toBe(2);
});

test("a name that was never set has no value", () => {
  expect(new ExpiringMap<number>().get("a")).toBeNull();
});

test("values whose time has passed are forgotten: the map does not grow with what it was ever given", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 30 }),
      (spans) => {
        const map = new ExpiringMap<number>();
        for (let now = 0; now < 5_000; now += 1) {
          map.set(`name ${now}`, now, now + (spans[now % spans.length] as number), now);
        }
        // At most 50 are alive at any instant; one pass over the map frees the rest.
        expect(map.size).toBeLessThan(200);
      },
    ),
    { numRuns: 20 },
  );
});

test("one value that is kept for long does not keep others", () => {
  const map = new ExpiringMap<number>();
  map.set("long", 0, Number.MAX_SAFE_INTEGER, 0);
  for (let now = 0; now < 10_000; now += 1) map.set(`short ${now}`, now, now, now);
  expect(map.size).toBeLessThan(10);
  expect(map.get("long")).toBe(0);
});
