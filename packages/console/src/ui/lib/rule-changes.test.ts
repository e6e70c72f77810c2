import { expect, test } from "vitest";
import { mergedNames, mergedRules } from "./rule-changes.js";

const OPENED = { prefix: "maps", remaining: 10 };

test("concurrent changes of different rules are both kept", () => {
  const now = { prefix: "maps", remaining: 20, environment: "test" };
  expect(mergedRules(OPENED, { prefix: "tides", remaining: 10 }, OPENED, now)).toEqual({
    prefix: "tides",
    remaining: 20,
    environment: "test",
  });
});

test("an emptied rule is removed", () => {
  const merged = mergedRules(OPENED, { prefix: "maps", remaining: undefined }, OPENED, OPENED);
  expect(JSON.stringify(merged)).toBe('{"prefix":"maps"}');
});

test("a concurrent change of the same rule is refused, unless it is the same change", () => {
  const typed = { ...OPENED, remaining: 30 };
  expect(() => mergedRules(OPENED, typed, OPENED, { ...OPENED, remaining: 20 })).toThrow(
    '"remaining"',
  );
  expect(mergedRules(OPENED, typed, OPENED, typed)).toEqual(typed);
});

test("a rule that the form merely writes differently is no concurrent change", () => {
  const stored = { ratelimit: { duration: 1, limit: 5 } };
  const typed = { ratelimit: { limit: 6, duration: 1 } };
  const opened = { ratelimit: { limit: 5, duration: 1 } };
  expect(mergedRules(opened, typed, stored, stored)).toEqual(typed);
});

test("additions and removals are applied to a list of names as others have left it", () => {
  expect(mergedNames(["a", "b"], ["b", "c", "c"], ["a", "b", "d"])).toEqual(["b", "d", "c"]);
  expect(mergedNames(["a", "b"], ["a", "b", "c"], ["a", "c"])).toEqual(["a", "c"]);
  expect(mergedNames(["a"], ["a"], [])).toEqual([]);
});
