import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lists, SortedIds } from "./lists.js";

const idOf = (number: number) => String(number).padStart(5, "0");

describe("sorted ids", () => {
  test("three thousand ids in any order are ascending, descending and counted", () => {
    const ids = Array.from({ length: 3_000 }, (_, number) => idOf((number * 1_637) % 3_000));
    const sorted = new SortedIds([]);
    for (const id of ids) sorted.add(id);
    for (const id of ids) sorted.add(id);
    const inOrder = ids.toSorted();
    expect(sorted.size).toBe(3_000);
    expect([...sorted.beyond(null, false)].flat()).toEqual(inOrder);
    expect([...sorted.beyond(null, true)].flat()).toEqual(inOrder.toReversed());
    for (const id of ids) sorted.remove(id);
    expect(
      [sorted.size, ...sorted.beyond(null, false), ...sorted.beyond(null, true)].flat(),
    ).toEqual([0]);
  });

  test("after any id, in the set or not, follow the ids beyond it, whatever was added and removed", () => {
    const step = fc.record({ number: fc.nat({ max: 1_500 }), isAdded: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat({ max: 1_500 }), (steps, after) => {
        // More than two chunks to begin with, so that each step falls into the middle of something.
        const sorted = new SortedIds([]);
        const expected = new Set<string>();
        for (let number = 0; number <= 1_500; number += 1) {
          if (number % 3 === 0) continue;
          sorted.add(idOf(number));
          expected.add(idOf(number));
        }
        for (const { number, isAdded } of steps) {
          if (isAdded) sorted.add(idOf(number));
          else sorted.remove(idOf(number));
          if (isAdded) expected.add(idOf(number));
          else expected.delete(idOf(number));
        }
        const ids = [...expected].toSorted();
        expect(sorted.size).toBe(ids.length);
        expect([...sorted.beyond(idOf(after), false)].flat()).toEqual(
          ids.filter((id) => id > idOf(after)),
        );
        expect([...sorted.beyond(idOf(after), true)].flat()).toEqual(
          ids.filter((id) => id < idOf(after)).toReversed(),
        );
      }),
      { numRuns: 50 },
    );
  });

  test("a page from the middle of a hundred thousand ids looks at two chunks, not at all of them", () => {
    const sorted = new SortedIds([]);
    for (let number = 0; number < 100_000; number += 1) sorted.add(idOf(number));
    const [first = []] = sorted.beyond(idOf(50_000), false);
    const seen = first.slice(0, 3);
    expect(first.length).toBeLessThanOrEqual(512);
    expect(seen).toEqual([50_001, 50_002, 50_003].map(idOf));
  });
});

test("a list whose only id leaves and comes back is the same list", () => {
  const lists = new Lists();
  for (const of of [undefined, "small"]) {
    lists.enter("list", of, "a");
    lists.enter("list", of, "a");
    expect([...lists.ids("list", of, null, false)].flat()).toEqual(["a"]);
    expect([...lists.ids("list", of, "a", false)].flat()).toEqual([]);
    lists.leave("list", of, "b");
    lists.leave("list", of, "a");
    expect([...lists.ids("list", of, null, true)].flat()).toEqual([]);
    lists.enter("list", of, "b");
    lists.enter("list", of, "a");
    expect([...lists.ids("list", of, null, true)].flat()).toEqual(["b", "a"]);
  }
  expect(lists.sizeOf("list")).toBe(2);
});
