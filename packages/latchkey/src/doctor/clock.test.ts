import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { checkClock } from "./clock.js";

const NOON = Date.UTC(2031, 4, 17, 12);

test.each([
  [NOON, "fine", "this machine and the store agree"],
  [NOON - 60_000, "fine", "this machine is 60 s ahead of the store"],
  [NOON - 60_001, "wrong", "this machine is 60 s ahead of the store"],
  [NOON + 60_000, "fine", "this machine is 60 s behind the store"],
  [NOON + 61_000, "wrong", "this machine is 61 s behind the store"],
])("a store whose clock says %d is %s", async (theirs, state, found) => {
  const store = { ...memoryStore(), readClock: async () => theirs };
  const latchkey = createLatchkey({ store, clock: () => NOON });
  expect(await checkClock({ latchkey, store, fix: false, rings: {} })).toEqual({
    check: "clock",
    state,
    found,
  });
});

test("a store without a clock of its own is fine", async () => {
  const store = memoryStore();
  const latchkey = createLatchkey({ store, clock: () => NOON });
  expect(await checkClock({ latchkey, store, fix: false, rings: {} })).toMatchObject({
    state: "fine",
    found: "2031-05-17T12:00:00.000Z; the store has none of its own",
  });
});
