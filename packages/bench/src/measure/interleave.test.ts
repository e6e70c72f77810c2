import { expect, test } from "vitest";
import { type Contender, interleave } from "./interleave.js";

const PACE = { rounds: 4, sliceMs: 1, warmUpMs: 0, leadIn: 0 };

/** A contender that records its turns, and how many calls each had. */
function noting(name: string, turns: { name: string; calls: number }[]): Contender {
  return {
    name,
    run: async (calls) => {
      turns.push({ name, calls });
    },
  };
}

test("every side has one turn in each round, not always after the same one", async () => {
  const turns: { name: string; calls: number }[] = [];
  const sides = await interleave([noting("a", turns), noting("b", turns)], PACE);
  const rounds = [8, 6, 4, 2].map((last) => {
    const round = turns.slice(turns.length - last, turns.length - last + 2);
    return round.map(({ name }) => name).join("");
  });
  expect(new Set(rounds)).toEqual(new Set(["ab", "ba"]));
  expect(sides.map(({ name, samples }) => [name, samples.length])).toEqual([
    ["a", 4],
    ["b", 4],
  ]);
});

test("all timed turns of a side have as many calls, and never more than it allows", async () => {
  const turns: { name: string; calls: number }[] = [];
  await interleave([{ ...noting("a", turns), maxCalls: 3 }], PACE);
  expect(new Set(turns.slice(-4).map(({ calls }) => calls)).size).toBe(1);
  expect(Math.max(...turns.map(({ calls }) => calls))).toBeLessThanOrEqual(3);
});

test("a slow side has at least as many calls in a slice as it asks for", async () => {
  const turns: { name: string; calls: number }[] = [];
  const side = noting("a", turns);
  const run = async (calls: number) => {
    await side.run(calls);
    // Each call takes the time of a hundred slices.
    return 100 * calls;
  };
  await interleave([{ ...side, run, minCalls: 8 }], PACE);
  expect(turns.slice(-4).map(({ calls }) => calls)).toEqual([8, 8, 8, 8]);
});

test("a lead-in is not part of a slice", async () => {
  const turns: { name: string; calls: number }[] = [];
  await interleave([{ ...noting("a", turns), maxCalls: 10 }], { ...PACE, leadIn: 0.2 });
  const [lead, slice] = turns.slice(-2).map(({ calls }) => calls);
  expect(lead).toBe(Math.floor((slice ?? 0) * 0.2));
});

test("a side that finds a wrong answer stops the measurement", async () => {
  const wrong = { name: "a", run: () => Promise.reject(new Error("wrong answer")) };
  await expect(interleave([wrong], PACE)).rejects.toThrow("wrong answer");
});
