import { expect, test } from "vitest";
import { seededRandom, shuffled, uniform, zipf } from "./random.js";

function draws(draw: () => number, count: number): number[] {
  return Array.from({ length: count }, draw);
}

test("the same seed draws the same numbers, and another seed draws others", () => {
  const first = draws(seededRandom(1), 5);
  expect(draws(seededRandom(1), 5)).toEqual(first);
  expect(draws(seededRandom(2), 5)).not.toEqual(first);
});

test("random numbers are at least 0 and below 1", () => {
  const numbers = draws(seededRandom(3), 10_000);
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...numbers)).toBeLessThan(1);
});

test("a uniform draw covers every number below its size, and no other", () => {
  expect(new Set(draws(uniform(10, seededRandom(4)), 1_000))).toEqual(
    new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
  );
});

test("by Zipf's law, the commonest number is drawn about twice as often as the second", () => {
  const counts = new Map<number, number>();
  for (const number of draws(zipf(100, seededRandom(5)), 100_000))
    counts.set(number, (counts.get(number) ?? 0) + 1);
  const [first = 0, second = 0] = [...counts.values()].sort((left, right) => right - left);
  expect(first / second).toBeGreaterThan(1.8);
  expect(first / second).toBeLessThan(2.2);
  expect(Math.max(...counts.keys())).toBeLessThan(100);
});

test("a shuffle keeps every number once", () => {
  const numbers = shuffled(1_000, seededRandom(6));
  expect([...numbers].sort((left, right) => left - right)).toEqual(
    Array.from({ length: 1_000 }, (_, index) => index),
  );
  expect(numbers[0] === 0 && numbers[1] === 1 && numbers[2] === 2).toBe(false);
});
