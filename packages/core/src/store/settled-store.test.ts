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

/** A store whose answers to steps come from a function, and what was heard of that. */
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

test("an end is asked for again until nothing else is over, however much was", async () => {
  const { end, expired } = settledBy((_step, call) =>
    call > 250 ? UNKNOWN : { kind: "refreshed", expired: [holdOf(call)], hasMore: true },
  );
  expect(await end()).toEqual(UNKNOWN);
  expect(expired).toEqual(Array.from({ length: 250 }, (_, at) => `rsv_${at + 1}`));
});

test("a store that keeps answering that others are over, and ends none, is given up", async () => {
  const { end } = settledBy(() => ({ kind: "refreshed", expired: [], hasMore: true }));
  await expect(end()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

test("where something is damaged it is ended without the others, and refused if it is what is damaged", async () => {
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
