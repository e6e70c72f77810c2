import { expect, test } from "vitest";
import { mergedNames, mergedRules } from "./rule-changes.js";

const OPENED = { prefix: "maps", remaining: 10 };

test("what others have changed since stays, and so does what was changed here", () => {
  const now = { prefix: "maps", remaining: 20, environment: "test" };
  expect(mergedRules(OPENED, { prefix: "tides", remaining: 10 }, OPENED, now)).toEqual({
    prefix: "tides",
    remaining: 20,
    environment: "test",
  });
});

test("what was emptied here is gone, also beside a change elsewhere", () => {
  const merged = mergedRules(OPENED, { prefix: "maps", remaining: undefined }, OPENED, OPENED);
  expect(JSON.stringify(merged)).toBe('{"prefix":"maps"}');
});

test("who changes the same as somebody else is told, unless it is the same change", () => {
  const typed = { ...OPENED, remaining: 30 };
  expect(() => mergedRules(OPENED, typed, OPENED, { ...OPENED, remaining: 20 })).toThrow(
    '"remaining"',
  );
  expect(mergedRules(OPENED, typed, OPENED, typed)).toEqual(typed);
});

test("what a form writes in another way was not changed by somebody else", () => {
  const stored = { ratelimit: { duration: 1, limit: 5 } };
  const typed = { ratelimit: { limit: 6, duration: 1 } };
  const opened = { ratelimit: { limit: 5, duration: 1 } };
  expect(mergedRules(opened, typed, stored, stored)).toEqual(typed);
});

test("of a list of names, what was added and taken away here is, and the rest is as others have left it", () => {
  expect(mergedNames(["a", "b"], ["b", "c", "c"], ["a", "b", "d"])).toEqual(["b", "d", "c"]);
  expect(mergedNames(["a", "b"], ["a", "b", "c"], ["a", "c"])).toEqual(["a", "c"]);
  expect(mergedNames(["a"], ["a"], [])).toEqual([]);
});
