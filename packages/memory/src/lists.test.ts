import type { PageWant } from "@latchkey/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lists, SortedIds } from "./lists.js";

const idOf = (number: number) => String(number).padStart(5, "0");

/** The first ids of a walk. */
function walked(sorted: SortedIds, after: string | null, descending: boolean, most = 10_000) {
  const ids: string[] = [];
  sorted.walk(after, descending, (id) => ids.push(id) < most);
  return ids;
}

function idsIn(lists: Lists, want: Pick<PageWant, "of" | "after" | "descending">) {
  const ids: string[] = [];
  const visit = (id: string) => ids.push(id) > 0;
  lists.walk({ kind: "key", list: "list", limit: 10, ...want }, visit);
  return ids;
}

describe("sorted ids", () => {
  test("three thousand ids in any order are ascending, descending and counted", () => {
    const ids = Array.from({ length: 3_000 }, (_, number) => idOf((number * 1_637) % 3_000));
    const sorted = new SortedIds([]);
    for (const id of ids) sorted.add(id);
    for (const id of ids) sorted.add(id);
    const inOrder = ids.toSorted();
    expect(sorted.size).toBe(3_000);
    expect(walked(sorted, null, false)).toEqual(inOrder);
    expect(walked(sorted, null, true)).toEqual(inOrder.toReversed());
    for (const id of ids) sorted.remove(id);
    expect(sorted.size).toBe(0);
    expect([...walked(sorted, null, false), ...walked(sorted, null, true)]).toEqual([]);
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
        expect(walked(sorted, idOf(after), false)).toEqual(ids.filter((id) => id > idOf(after)));
        expect(walked(sorted, idOf(after), true)).toEqual(
          ids.filter((id) => id < idOf(after)).toReversed(),
        );
      }),
      { numRuns: 50 },
    );
  });

  test("a walk ends where a visit says so, in the middle of a hundred thousand ids", () => {
    const sorted = new SortedIds([]);
    for (let number = 0; number < 100_000; number += 1) sorted.add(idOf(number));
    expect(walked(sorted, idOf(50_000), false, 3)).toEqual([50_001, 50_002, 50_003].map(idOf));
    expect(walked(sorted, idOf(50_000), true, 3)).toEqual([49_999, 49_998, 49_997].map(idOf));
  });
});

test("a list whose only id leaves and comes back is the same list", () => {
  const lists = new Lists();
  for (const of of [undefined, "small"]) {
    lists.enter("list", of, "a");
    lists.enter("list", of, "a");
    expect(idsIn(lists, { of, after: null, descending: false })).toEqual(["a"]);
    expect(idsIn(lists, { of, after: "a", descending: false })).toEqual([]);
    lists.leave("list", of, "b");
    lists.leave("list", of, "a");
    expect(idsIn(lists, { of, after: null, descending: true })).toEqual([]);
    lists.enter("list", of, "b");
    lists.enter("list", of, "a");
    expect(idsIn(lists, { of, after: null, descending: true })).toEqual(["b", "a"]);
  }
  expect(lists.sizeOf("list")).toBe(2);
});
