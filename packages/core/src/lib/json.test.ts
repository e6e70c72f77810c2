import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, isDeeperThan } from "./json.js";

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

test("levels are counted from the outermost object or list", () => {
  expect([0, 1, 2, 3].map((levels) => isDeeperThan(2, nested(levels)))).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

test("a value of a million levels is no harder than another, nor is one that holds itself", () => {
  expect(isDeeperThan(999_999, nested(1_000_000))).toBe(true);
  expect(isDeeperThan(1_000_000, nested(1_000_000))).toBe(false);
  const own: unknown[] = [];
  own.push(own, own);
  expect(isDeeperThan(1_000, own)).toBe(true);
});

test("the order of fields, a field that is undefined, and a date or its ms make no difference", () => {
  const at = new Date(1_773_144_000_000);
  const one = canonicalJson({ name: "north", expires: at, meta: { b: [1, undefined], a: null } });
  const other = { meta: { a: null, b: [1, undefined] }, expires: at.getTime(), name: "north" };
  expect(canonicalJson({ ...other, prefix: undefined })).toBe(one);
});

test("values that differ as JSON have different texts, and equal ones the same", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [first, second] = [one, other].map((value) => JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(first) === canonicalJson(second)).toBe(sorted(first) === sorted(second));
      expect(JSON.parse(canonicalJson(first))).toEqual(first);
    }),
  );
});

/** The same by other means: a sorting replacer. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

test.each([undefined, () => 0, Symbol("a"), 10n])("%s is written as its type only", (value) => {
  expect(canonicalJson(value)).toBe(typeof value);
});
