import fc from "fast-check";
import { expect, test } from "vitest";
import { ExpiringMap } from "./expiring-map.js";

test("a value stays until its time has passed: at the instant itself it is still there", () => {
  const map = new ExpiringMap<string>(() => Number.MAX_SAFE_INTEGER);
  map.set("a", "one", 100, 0);
  for (let number = 0; number < 10; number += 1) map.set(`other-${number}`, "two", 1_000, 100);
  expect(map.get("a")).toBe("one");
  expect(map.get("b")).toBeNull();
});

test("setting values deletes expired ones, without a scan of all of them at once", () => {
  const map = new ExpiringMap<number>(() => Number.MAX_SAFE_INTEGER);
  const names = Array.from({ length: 1_000 }, (_, number) => `expiring-${number}`);
  for (const name of names) map.set(name, 1, 10, 0);
  const held = () => names.filter((name) => map.get(name) !== null).length;
  // The sweep may still be in its first round.
  for (let number = 0; number < 500; number += 1) map.set(`later-${number}`, 2, 1_000, 11);
  expect(held()).toBeLessThan(600);
  for (let number = 500; number < 1_600; number += 1) map.set(`later-${number}`, 2, 1_000, 11);
  expect(held()).toBe(0);
});

test("a value that is set again stays until its new time", () => {
  const map = new ExpiringMap<number>(() => Number.MAX_SAFE_INTEGER);
  map.set("a", 1, 10, 0);
  map.set("a", 2, 50, 5);
  for (let number = 0; number < 10; number += 1) map.set(`other-${number}`, 3, 100, 20);
  expect(map.get("a")).toBe(2);
});

test("nothing is forgotten before its time, whatever is set and deleted in between", () => {
  const step = fc.record({
    name: fc.constantFrom("a", "b", "c", "d", "e", "f"),
    lasts: fc.option(fc.nat({ max: 40 })),
    move: fc.nat({ max: 15 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const map = new ExpiringMap<number>(() => Number.MAX_SAFE_INTEGER);
      const expected = new Map<string, { value: number; until: number }>();
      let now = 0;
      for (const [value, { name, lasts, move }] of steps.entries()) {
        now += move;
        if (lasts === null) {
          map.delete(name);
          expected.delete(name);
        } else {
          map.set(name, value, now + lasts, now);
          expected.set(name, { value, until: now + lasts });
        }
        for (const [known, entry] of expected)
          if (entry.until >= now) expect(map.get(known)).toBe(entry.value);
      }
    }),
  );
});

test("a caller whose clock is ahead expires nothing that is not over by the machine's clock", () => {
  let machine = 0;
  const map = new ExpiringMap<number>(() => machine);
  map.set("a", 1, 100, 0);
  for (let number = 0; number < 10; number += 1) map.set("ahead", 2, 10_000, 5_000);
  expect(map.get("a")).toBe(1);
  machine = 101;
  for (let number = 0; number < 10; number += 1) map.set("ahead", 2, 10_000, 5_000);
  expect(map.get("a")).toBeNull();
});

test("a caller whose clock is behind loses nothing to the machine's", () => {
  const map = new ExpiringMap<number>(() => 5_000);
  map.set("a", 1, 100, 0);
  for (let number = 0; number < 10; number += 1) map.set("b", 2, 100, 50);
  expect(map.get("a")).toBe(1);
});
