import { expect, test } from "vitest";
import { AS_IT_IS, changesOf, mergedChanges } from "./key-changes.js";
import type { Key } from "./types.js";

const KEY: Key = {
  id: "key_1",
  start: "maps_AbC",
  apiId: "api_1",
  createdAt: 0,
  enabled: true,
  name: "map server",
  expires: Date.UTC(2031, 0, 1, 12, 30, 15, 123),
  remaining: 10,
  refill: { interval: "daily", amount: 10, lastRefillAt: 5 },
  ratelimits: [{ name: "default", limit: 5, duration: 1_000, autoApply: true }],
  roles: ["reader"],
  permissions: ["docs.read"],
  tags: ["eu"],
};

/** The form of the key when it is opened. */
const OPENED = {
  name: "map server",
  expires: Date.UTC(2031, 0, 1, 12, 30),
  remaining: 10,
  refill: { interval: "daily", amount: 10 },
  ratelimit: { limit: 5, duration: 1_000 },
  roles: ["reader"],
  tags: ["eu"],
};

test("an untouched form changes nothing, not even seconds that it does not show", () => {
  expect(changesOf(OPENED, KEY)).toEqual({});
});

test("only changed fields are sent", () => {
  expect(changesOf({ ...OPENED, name: "tile server", remaining: 0 }, KEY)).toEqual({
    name: "tile server",
    remaining: 0,
  });
});

test("emptied fields are cleared with null or an empty list", () => {
  expect(changesOf({}, KEY)).toEqual({
    name: null,
    expires: null,
    remaining: null,
    refill: null,
    ratelimit: null,
    roles: [],
    tags: [],
  });
});

test("an interval that the form does not support is kept unless another is chosen", () => {
  const own = { ...KEY, refill: { interval: { every: 90_000 }, amount: 3 } };
  expect(changesOf({ ...OPENED, refill: AS_IT_IS }, own)).toEqual({});
  expect(changesOf({ ...OPENED, refill: undefined }, own)).toEqual({ refill: null });
  expect(changesOf(OPENED, own)).toEqual({ refill: OPENED.refill });
});

test("texts with surrounding spaces, and instants beyond the range of fields, are kept", () => {
  const own = { ...KEY, name: " a\nb ", expires: 8_640_000_000_000_000 };
  expect(changesOf({ ...OPENED, name: "ab", expires: undefined }, own)).toEqual({});
});

test("permissions through roles are not the key's own, and never sent", () => {
  expect(changesOf({ ...OPENED, permissions: ["docs.write"] }, KEY)).toEqual({});
});

test("the algorithm of a limit is kept if its number changes, and so are the other parts of a refill", () => {
  const own = {
    ...KEY,
    refill: { interval: "monthly", amount: 10, refillDay: 15, carryOver: 5, lastRefillAt: 7 },
    ratelimits: [
      { name: "default", limit: 5, duration: 1_000, algorithm: "sliding", autoApply: true },
      { name: "writes", limit: 2, duration: 60_000, autoApply: false },
    ],
  };
  const typed = {
    ...OPENED,
    refill: { interval: "monthly", amount: 20 },
    ratelimit: { limit: 6, duration: 1_000, algorithm: "sliding" },
    ratelimits: [{ name: "writes", limit: 2, duration: 60_000 }],
  };
  expect(changesOf(typed, own)).toEqual({
    refill: { interval: "monthly", amount: 20, refillDay: 15, carryOver: 5 },
    ratelimit: { limit: 6, duration: 1_000, algorithm: "sliding" },
  });
});

test("additions and removals of tags and roles are applied to those that the key has now", () => {
  const now = { ...KEY, roles: ["editor"], tags: ["eu", "team:maps"] };
  const changes = changesOf({ ...OPENED, roles: ["reader", "admin"], tags: ["us"] }, KEY);
  expect(mergedChanges(changes, KEY, now)).toEqual({
    roles: ["editor", "admin"],
    tags: ["team:maps", "us"],
  });
  expect(mergedChanges(changesOf({ ...OPENED, tags: undefined }, KEY), KEY, now)).toEqual({
    tags: ["team:maps"],
  });
});

test.each([
  ["ipWhitelist", ["192.0.2.1"], ["192.0.2.2"]],
  ["meta", { plan: "pro" }, { plan: "free" }],
  ["refill", { interval: "weekly", amount: 10 }, { interval: "daily", amount: 5 }],
])("overwriting a concurrent change of %s is refused", (field, mine, theirs) => {
  const changes = changesOf({ ...OPENED, [field]: mine }, KEY);
  const now = { ...KEY, [field]: theirs };
  expect(() => mergedChanges(changes, KEY, now)).toThrow(`"${field}"`);
  // The same change is no conflict, nor is a refill that was applied, nor a change of another field.
  expect(mergedChanges(changes, KEY, { ...KEY, [field]: mine })).toEqual(changes);
  expect(mergedChanges(changesOf({ ...OPENED, remaining: 1 }, KEY), KEY, now)).toEqual({
    remaining: 1,
  });
  const refilled = { interval: "daily", amount: 10, lastRefillAt: 9 };
  expect(mergedChanges(changes, KEY, { ...KEY, refill: refilled })).toEqual(changes);
});

test("a limit that somebody else has added is not lost if another one is changed", () => {
  const opened = { ...KEY, ratelimits: [{ name: "writes", limit: 2, duration: 60_000 }] };
  const reads = { name: "reads", limit: 9, duration: 60_000 };
  const now = { ...opened, ratelimits: [...opened.ratelimits, reads] };
  const ratelimits = [{ name: "writes", limit: 3, duration: 60_000 }];
  const changes = changesOf({ ...OPENED, ratelimit: undefined, ratelimits }, opened);
  expect(() => mergedChanges(changes, opened, now)).toThrow('"ratelimits"');
});
