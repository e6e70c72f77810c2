import { COUNTER_SPAN_MS } from "@latchkey/core";
import { expect, test } from "vitest";
import { VerificationCounters } from "./verification-counters.js";

const KEY = { kind: "key", id: "key_1" } as const;
const HOUR = COUNTER_SPAN_MS;
const DAY = 24 * HOUR;

test.each([
  ["the last hour before the start is not read", 9 * HOUR, 0],
  ["the hour of the start is read", 10 * HOUR, 1],
  ["the last hour before the end is read", 33 * HOUR, 1],
  ["the hour of the end is not read", 34 * HOUR, 0],
])("%s", (_title, hourAt, expected) => {
  const counters = new VerificationCounters();
  counters.add({ subject: KEY, hourAt, code: "VALID", count: 2 });
  expect(counters.read(KEY, 10 * HOUR, 34 * HOUR)).toHaveLength(expected);
});

test.each([
  ["the last hour of the day before", DAY - HOUR, 1],
  ["not the first hour of the day itself", DAY, 0],
])("forgotten is %s", (_title, hourAt, deleted) => {
  const counters = new VerificationCounters();
  counters.add({ subject: KEY, hourAt, code: "VALID", count: 2 });
  expect(counters.delete(DAY, 10)).toEqual({ deleted, hasMore: false });
});

test("a step goes over its limit by no more than what one subject has in a day", () => {
  const counters = new VerificationCounters();
  for (let number = 0; number < 10; number += 1) {
    const subject = { kind: "key", id: `key_${number}` } as const;
    for (const hour of [0, 1])
      counters.add({ subject, hourAt: hour * HOUR, code: "VALID", count: 1 });
  }
  expect(counters.delete(DAY, 3)).toEqual({ deleted: 4, hasMore: true });
});
