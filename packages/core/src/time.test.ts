import { describe, expect, test } from "vitest";
import { createMonotonicClock } from "./time.js";

/** A clock that answers the given instants one after another. */
function readingsOf(...instants: number[]) {
  let next = 0;
  return () => instants[next++] as number;
}

describe("createMonotonicClock", () => {
  test.each([
    { label: "a millisecond earlier", reading: 999, answer: 1_000 },
    { label: "the same", reading: 1_000, answer: 1_000 },
    { label: "a millisecond later", reading: 1_001, answer: 1_001 },
  ])("after 1000, a reading that is $label answers $answer", ({ reading, answer }) => {
    const now = createMonotonicClock(readingsOf(1_000, reading));
    now();
    expect(now()).toBe(answer);
  });

  test("a clock set back repeats the highest instant until it has caught up", () => {
    const now = createMonotonicClock(readingsOf(500, 200, 300, 499, 501));
    expect([now(), now(), now(), now(), now()]).toEqual([500, 500, 500, 500, 501]);
  });

  test("the epoch itself is an instant", () => {
    expect(createMonotonicClock(() => 0)()).toBe(0);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "a clock that answers %s is an error, never an instant",
    (reading) => {
      const now = createMonotonicClock(() => reading);
      expect(now).toThrow(expect.objectContaining({ code: "INTERNAL_SERVER_ERROR" }));
    },
  );

  test("a clock that answers text is an error, never an instant", () => {
    const now = createMonotonicClock(() => "1000" as unknown as number);
    expect(now).toThrow(expect.objectContaining({ code: "INTERNAL_SERVER_ERROR" }));
  });

  test("the last instant of the calendar is an instant, the next one is an error", () => {
    const lastInstant = 8_640_000_000_000_000;
    expect(createMonotonicClock(() => lastInstant)()).toBe(lastInstant);
    const beyond = createMonotonicClock(() => lastInstant + 1);
    expect(beyond).toThrow(expect.objectContaining({ code: "INTERNAL_SERVER_ERROR" }));
  });

  test("one broken reading is forgotten: the clock goes on where it was", () => {
    const now = createMonotonicClock(readingsOf(700, Number.NaN, 600));
    now();
    expect(now).toThrow();
    expect(now()).toBe(700);
  });

  test("two clocks over the same source know nothing of each other", () => {
    const readings = readingsOf(900, 100);
    const first = createMonotonicClock(readings);
    const second = createMonotonicClock(readings);
    expect([first(), second()]).toEqual([900, 100]);
  });
});
