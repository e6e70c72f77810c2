import { describe, expect, test } from "vitest";
import { fieldChanges } from "./entry.js";

describe("what differs between two states", () => {
  test("is named field by field, as it was and as it is", () => {
    expect(fieldChanges({ name: "tides", remaining: 5 }, { name: "gates", remaining: 4 })).toEqual([
      { field: "name", before: "tides", after: "gates" },
      { field: "remaining", before: 5, after: 4 },
    ]);
  });

  test("has no before where there was no value, and no after where there is none", () => {
    expect(fieldChanges({ gone: 1, nulled: 2, dropped: 3 }, { fresh: 4, nulled: null })).toEqual([
      { field: "fresh", after: 4 },
      { field: "gone", before: 1 },
      { field: "nulled", before: 2 },
      { field: "dropped", before: 3 },
    ]);
  });

  test("comes in the order of the later state, then what has no value there any more", () => {
    const changes = fieldChanges({ c: 1, a: 1, b: 1 }, { a: 2, b: 2 });
    expect(changes.map(({ field }) => field)).toEqual(["a", "b", "c"]);
  });

  test.each([
    [{}, {}],
    [{ name: null }, {}],
    [{}, { name: undefined }],
    [{ name: null }, { name: undefined }],
    [{ name: "" }, { name: "" }],
    [{ meta: { a: 1, b: [1, { c: 2 }] } }, { meta: { b: [1, { c: 2 }], a: 1 } }],
    [{ roles: [] }, { roles: [] }],
  ])("between %j and %j is nothing", (before, after) => {
    expect(fieldChanges(before, after)).toEqual([]);
  });

  test.each([
    [0, false],
    [0, ""],
    [1, "1"],
    ["", false],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    [[1], { 0: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: { b: 1 } }, { a: { b: 2 } }],
    [{ a: null }, {}],
    [{ toString: 1 }, {}],
  ])("between the values %j and %j is a change", (was, is) => {
    expect(fieldChanges({ field: was }, { field: is })).toEqual([
      { field: "field", before: was, after: is },
    ]);
  });

  test("includes a field that bears the name of something inherited", () => {
    expect(fieldChanges({ constructor: "a" }, { constructor: "b" })).toEqual([
      { field: "constructor", before: "a", after: "b" },
    ]);
  });
});
