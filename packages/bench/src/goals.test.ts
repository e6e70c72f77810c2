import { describe, expect, test } from "vitest";
import { GOALS, isWithin, judgeGoals } from "./goals.js";
import type { Measurement } from "./measure/measurement.js";
import { TASKS } from "./tasks.js";

function measurement(id: string, sides: Record<string, readonly number[]>): Measurement {
  return {
    id,
    title: id,
    unit: "µs",
    sides: Object.entries(sides).map(([name, samples]) => ({ name, samples })),
  };
}

function resultOf(id: string, index: number, measurements: readonly Measurement[]) {
  const result = judgeGoals(measurements).filter(({ goal }) => goal.id === id)[index];
  return { figure: result?.figure, isMet: result?.isMet };
}

describe("a bound", () => {
  test("is met exactly at the bound, and missed just beyond it", () => {
    expect(isWithin(1.5, { atMost: 1.5 })).toBe(true);
    expect(isWithin(1.501, { atMost: 1.5 })).toBe(false);
    expect(isWithin(0.8, { atLeast: 0.8 })).toBe(true);
    expect(isWithin(0.799, { atLeast: 0.8 })).toBe(false);
  });
});

describe("a goal", () => {
  test("for a ratio compares latchkey with the limit, round by round", () => {
    const measured = measurement("verify/memory/uses/1", {
      limit: [1, 2, 4],
      latchkey: [1.4, 2.8, 5.6],
    });
    expect(resultOf("P1", 0, [measured]).figure).toBeCloseTo(1.4);
    expect(resultOf("P1", 0, [measured]).isMet).toBe(true);
  });

  test("for speed compares the other way round", () => {
    const slower = measurement("http/verify", { "hand-written": [8, 8], latchkey: [16, 16] });
    expect(resultOf("P11", 0, [slower])).toEqual({ figure: 0.5, isMet: false });
  });

  test("may name another base than the limit", () => {
    const measured = measurement("verify/sqlite/uses/1", {
      limit: [10],
      latchkey: [10],
      "better-auth": [700],
    });
    expect(resultOf("P4", 1, [measured])).toEqual({ figure: 70, isMet: true });
  });

  test("for a value takes the median of the samples", () => {
    const measured = measurement("bytes/memory/key", { latchkey: [700, 900, 800] });
    expect(resultOf("P10", 0, [measured])).toEqual({ figure: 800, isMet: true });
  });

  test("for the largest sample is missed by one sample beyond the bound", () => {
    const turns = (samples: readonly number[]) =>
      resultOf("P5", 1, [measurement("processes/sqlite/blocked", { latchkey: samples })]);
    expect(turns([10, 50, 10])).toEqual({ figure: 50, isMet: true });
    expect(turns([10, 51, 10])).toEqual({ figure: 51, isMet: false });
  });

  test("is not met if it was not measured, or if its side did not take part", () => {
    expect(resultOf("P1", 0, [])).toEqual({ figure: null, isMet: false });
    const withoutPeer = measurement("verify/sqlite/uses/1", { limit: [1], latchkey: [1] });
    expect(resultOf("P4", 1, [withoutPeer])).toEqual({ figure: null, isMet: false });
  });
});

test("every goal refers to a measurement that some task makes", () => {
  const starts = TASKS.map(({ id }) => id);
  const others = GOALS.map(({ measurement: id }) => id).filter(
    (id) => !starts.some((start) => id.startsWith(start) || id.startsWith("bytes/")),
  );
  expect(others).toEqual([]);
});
