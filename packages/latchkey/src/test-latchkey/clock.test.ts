import { describe, expect, test } from "vitest";
import { createTestClock } from "./clock.js";

const START = Date.UTC(2025, 0, 1);

describe("the clock of a test", () => {
  test("stands still until it is moved", () => {
    const clock = createTestClock(START);
    expect([clock.now(), clock.now()]).toEqual([START, START]);
  });

  test("can start at a Date", () => {
    expect(createTestClock(new Date(START)).now()).toBe(START);
  });

  test("advances by a span, the sum of its parts, and returns the new instant", () => {
    const clock = createTestClock(START);
    expect(clock.advance({ days: 1, hours: 2, minutes: 3, seconds: 4, ms: 5 })).toBe(
      Date.UTC(2025, 0, 2, 2, 3, 4, 5),
    );
    expect(clock.advance({ days: 0.5 })).toBe(Date.UTC(2025, 0, 2, 14, 3, 4, 5));
    expect(clock.advance({})).toBe(clock.now());
  });

  test("moves to an instant, but never to one in the past", () => {
    const clock = createTestClock(START);
    expect(clock.set(START)).toBe(START);
    expect(clock.set(new Date(START + 1))).toBe(START + 1);
    expect(() => clock.set(START)).toThrow("never goes back");
  });

  test("follows another clock, with its own advances on top", () => {
    let other = START;
    const clock = createTestClock(() => other);
    clock.advance({ hours: 1 });
    other += 5;
    expect(clock.now()).toBe(START + 3_600_005);
    clock.set(START + 7_200_000);
    other += 5;
    expect(clock.now()).toBe(START + 7_200_005);
  });

  test.each<[unknown, string]>([
    [{ days: -1 }, '"days" must be a number >= 0'],
    [{ hours: Number.NaN }, '"hours" must be a number >= 0'],
    [{ weeks: 1 }, '"weeks" is not a unit'],
    [{ ms: 0.5 }, '"span" must be whole milliseconds'],
    [{ days: Number.POSITIVE_INFINITY }, '"span" must be whole milliseconds'],
    [5, '"span" must be an object'],
  ])("refuses the span %j", (span, message) => {
    expect(() => createTestClock(START).advance(span as never)).toThrow(message);
  });

  test.each([-1, 0.5, Number.NaN, "2025-01-01", new Date("never")])(
    "refuses %s as an instant",
    (instant) => {
      expect(() => createTestClock(instant as never)).toThrow(TypeError);
      expect(() => createTestClock(START).set(instant as never)).toThrow(TypeError);
    },
  );
});
