import fc from "fast-check";
import { expect, test } from "vitest";
import { comparePlaces, type KeyPlace, type ValueOrder } from "./listing.js";

const orders = fc.constantFrom<ValueOrder>("expires", "lastUsedAt");
const place = fc.record({
  value: fc.option(fc.integer({ min: 0, max: 3 })),
  id: fc.constantFrom("key_1", "key_2", "key_Z", "key_a"),
});

test("of two places one comes first, in either order of the arguments, and none comes before itself", () => {
  fc.assert(
    fc.property(orders, place, place, (orderBy, one, other) => {
      const compared = comparePlaces(orderBy, one, other);
      expect(comparePlaces(orderBy, other, one)).toBe(compared === 0 ? 0 : -compared);
      expect(compared === 0).toBe(one.id === other.id && one.value === other.value);
    }),
  );
});

test("sorted places are sorted by pairs, however far apart", () => {
  fc.assert(
    fc.property(orders, fc.array(place), (orderBy, places) => {
      const sorted = places.toSorted((one, other) => comparePlaces(orderBy, one, other));
      for (const [at, one] of sorted.entries())
        for (const other of sorted.slice(at + 1))
          expect(comparePlaces(orderBy, one, other)).toBeLessThanOrEqual(0);
    }),
  );
});

test("a key that never expires comes last, one that was never used first, and equal ones by their ids", () => {
  const places: readonly KeyPlace[] = [
    { value: 5, id: "key_b" },
    { value: null, id: "key_a" },
    { value: 5, id: "key_a" },
    { value: 0, id: "key_c" },
  ];
  const sorted = (orderBy: ValueOrder) =>
    places.toSorted((one, other) => comparePlaces(orderBy, one, other)).map(({ value }) => value);
  expect(sorted("expires")).toEqual([0, 5, 5, null]);
  expect(sorted("lastUsedAt")).toEqual([null, 0, 5, 5]);
  const [first, second] = [places[2] as KeyPlace, places[0] as KeyPlace];
  expect(comparePlaces("expires", first, second)).toBe(-1);
});
