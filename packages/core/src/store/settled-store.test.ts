import { expect, test } from "vitest";
import { LatchkeyError } from "../errors.js";
import type { Hold } from "../rules/hold.js";
import type { KeyStore } from "./key-store.js";
import type { EndStep, HoldResult } from "./settle.js";
import { createSettledStore } from "./settled-store.js";

const END: EndStep = { kind: "end", id: "rsv_1", uses: 1, limits: [], rest: true };
const MOMENT = { now: 5_000, revision: null };
const UNKNOWN: HoldResult = { kind: "unknown" };
const holdOf = (id: number) => ({ id: `rsv_${id}` }) as Hold;

/** A store that answers steps with a function, and what was reported about that. */
function settledBy(answer: (step: EndStep, call: number) => HoldResult) {
  const steps: EndStep[] = [];
  const expired: string[] = [];
  const store = {
    settle: async (_workspaceId: string, step: EndStep) => answer(step, steps.push(step)),
  } as unknown as KeyStore;
  const settled = createSettledStore(
    store,
    () => MOMENT.now,
    (_workspaceId, holds) => expired.push(...holds.map(({ id }) => id)),
  );
  return { end: () => settled.settle("ws_1", END, MOMENT), steps, expired };
}

test("an end is repeated until no other hold has expired, however many had", async () => {
  const { end, expired } = settledBy((_step, call) =>
    call > 250 ? UNKNOWN : { kind: "refreshed", expired: [holdOf(call)], hasMore: true },
  );
  expect(await end()).toEqual(UNKNOWN);
  expect(expired).toEqual(Array.from({ length: 250 }, (_, at) => `rsv_${at + 1}`));
});

test("a store that keeps answering that others have expired, and ends none, makes the call give up", async () => {
  const { end } = settledBy(() => ({ kind: "refreshed", expired: [], hasMore: true }));
  await expect(end()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

test("if a hold is damaged, the end runs without the others, and is refused if its own hold is damaged", async () => {
  const damaged = new LatchkeyError("STORE_CORRUPT", "the stored reservation is damaged");
  const { end, steps } = settledBy(({ isAlone }) => {
    if (isAlone === true) return UNKNOWN;
    throw damaged;
  });
  expect(await end()).toEqual(UNKNOWN);
  expect(steps).toEqual([END, { ...END, isAlone: true }]);
  const refused = settledBy(() => {
    throw damaged;
  });
  await expect(refused.end()).rejects.toBe(damaged);
});
