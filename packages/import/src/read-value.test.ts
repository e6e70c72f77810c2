import { describe, expect, test } from "vitest";
import { readInstant, readValue } from "./read-value.js";
import { NOON } from "./testing/imports.js";

describe("an instant", () => {
  test.each([
    ["2026-03-10T12:00:00Z", NOON],
    ["2026-03-10T12:00:00.250Z", NOON + 250],
    ["2026-03-10T12:00:00.123456+00", NOON + 123],
    ["2026-03-10 13:00:00+01", NOON],
    ["2026-03-10 13:30:00+01:30", NOON],
    ["2026-03-10T07:00-0500", NOON],
    ["2026-03-10 12:00:00 UTC", NOON],
    ["2026-03-10 12:00:00", NOON],
    ["2026-03-10", NOON - 43_200_000],
    [String(NOON), NOON],
    [NOON, NOON],
    [new Date(NOON), NOON],
    ["2028-02-29", Date.UTC(2028, 1, 29)],
    ["2026-03-31T23:30:00-02:00", Date.UTC(2026, 3, 1, 1, 30)],
  ])("is read from %s", (value, expected) => {
    expect(readInstant(value)).toEqual({ value: expected });
  });

  test("may be in seconds if the map says so", () => {
    const seconds = NOON / 1_000;
    expect(readInstant(seconds, "s")).toEqual({ value: NOON });
    expect(readInstant(String(seconds), "s")).toEqual({ value: NOON });
    for (const value of [seconds, String(seconds), 99_999_999_999])
      expect(readInstant(value)).toEqual({ message: expect.stringContaining('"unit": "s"') });
    expect(readInstant(100_000_000_000)).toEqual({ value: 100_000_000_000 });
  });

  test.each([
    "soon",
    "10.03.2026",
    "2026-13-40",
    "2030-02-30",
    "2027-02-29T12:00:00Z",
    "2026-04-31 10:00:00+02",
    "2026-03-10T25:00:00Z",
    "",
    true,
  ])("is not read from %s, so that createKeys refuses it", (value) => {
    expect(readInstant(value)).toEqual({ value });
  });
});

test.each([
  ["flag", "TRUE", true],
  ["flag", "f", false],
  ["flag", 1, true],
  ["flag", "0", false],
  ["flag", "maybe", "maybe"],
  ["flag", ["true"], ["true"]],
  ["whole", " 12 ", 12],
  ["whole", "-1", -1],
  ["whole", "1.5", "1.5"],
  ["whole", "12345678901234567", "12345678901234567"],
  ["names", "a, b;c|d  e", ["a", "b", "c", "d", "e"]],
  ["names", ' ["a b"] ', ["a b"]],
  ["names", ["a"], ["a"]],
  ["json", '{"a":1}', { a: 1 }],
  ["json", 7, 7],
  ["text", "1", "1"],
  ["text", 42, "42"],
  ["text", true, true],
] as const)("as %s, %j is read as %j", (kind, value, expected) => {
  expect(readValue(value, kind)).toEqual({ value: expected });
});

test("nesting too deep for a recursive reader is refused, or passed on for createKeys to refuse", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const value: unknown = JSON.parse(deep);
  expect(readValue(value, "flag")).toEqual({ value });
  for (const kind of ["json", "names"] as const)
    expect(readValue(deep, kind)).toEqual({ message: "is nested more than 32 levels deep" });
});

test("text that must be JSON and is not is reported as such", () => {
  for (const kind of ["json", "names"] as const)
    expect(readValue("[1,", kind)).toEqual({ message: "must be JSON" });
});
