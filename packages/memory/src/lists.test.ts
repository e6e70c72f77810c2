import type { PageWant } from "@latchkey/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Lists } from "./lists.js";

const LIST = "list";

const idOf = (number: number) => String(number).padStart(5, "0");

function listOf(ids: Iterable<string>): Lists {
  const lists = new Lists();
  for (const id of ids) lists.enter(LIST, undefined, id);
  return lists;
}

/** All ids of a walk. */
function idsIn(lists: Lists, want: Partial<PageWant> = {}): string[] {
  const walk = lists.walk({ kind: "key", list: LIST, after: null, limit: 10, ...want });
  return Array.from(walk, ([id]) => id);
}

test("three thousand ids that enter in any order are walked in both directions and counted", () => {
  const ids = Array.from({ length: 3_000 }, (_, number) => idOf((number * 1_637) % 3_000));
  const lists = listOf([...ids, ...ids]);
  const inOrder = ids.toSorted();
  expect(lists.sizeOf(LIST)).toBe(3_000);
  expect(idsIn(lists)).toEqual(inOrder);
  expect(idsIn(lists, { descending: true })).toEqual(inOrder.toReversed());
  for (const id of ids) lists.leave(LIST, undefined, id);
  expect(lists.sizeOf(LIST)).toBe(0);
  expect([...idsIn(lists), ...idsIn(lists, { descending: true })]).toEqual([]);
});

test("a walk after any id, in the list or not, yields the ids beyond it, whatever entered and left", () => {
  const step = fc.record({ number: fc.nat({ max: 1_500 }), enters: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat({ max: 1_500 }), (steps, number) => {
      // More than two nodes at first, so that each step changes the middle of a tree.
      const numbers = Array.from({ length: 1_501 }, (_, index) => index);
      const expected = new Set(numbers.filter((one) => one % 3 !== 0).map(idOf));
      const lists = listOf(expected);
      for (const { number, enters } of steps) {
        const id = idOf(number);
        if (enters) lists.enter(LIST, undefined, id);
        else lists.leave(LIST, undefined, id);
        if (enters) expected.add(id);
        else expected.delete(id);
      }
      const ids = [...expected].toSorted();
      const after = idOf(number);
      expect(lists.sizeOf(LIST)).toBe(ids.length);
      expect(idsIn(lists, { after })).toEqual(ids.filter((id) => id > after));
      expect(idsIn(lists, { after, descending: true })).toEqual(
        ids.filter((id) => id < after).toReversed(),
      );
    }),
    { numRuns: 50 },
  );
});

test("a list whose only id leaves and comes back is the same list", () => {
  const lists = new Lists();
  for (const of of [undefined, "small"]) {
    lists.enter(LIST, of, "a");
    lists.enter(LIST, of, "a");
    expect(idsIn(lists, { of })).toEqual(["a"]);
    expect(idsIn(lists, { of, after: "a" })).toEqual([]);
    lists.leave(LIST, of, "b");
    lists.leave(LIST, of, "a");
    expect(idsIn(lists, { of, descending: true })).toEqual([]);
    lists.enter(LIST, of, "b");
    lists.enter(LIST, of, "a");
    expect(idsIn(lists, { of, descending: true })).toEqual(["b", "a"]);
  }
  expect(lists.sizeOf(LIST)).toBe(2);
});
