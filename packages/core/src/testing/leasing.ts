import { expect, vi } from "vitest";
import { applyCharge, type ChargeMoment, type ChargePlan } from "../store/charge.js";
import type { HoldResult, HoldStep } from "../store/settle.js";
import type { SettledCharge, SettledStore } from "../store/settled-store.js";
import { createUnitsAhead } from "../store/units-ahead.js";
import { fixedWindows, usageOf } from "./records.js";

export const MS = 500;
const WINDOW = "60000:default";
/** Each verification takes two uses and five units of a limit. */
export const PLAN: ChargePlan = {
  workspaceId: "ws_default",
  revision: 7,
  confirms: [{ kind: "key", id: "key_1", version: 3 }],
  mode: "commit",
  cost: 2,
  uses: 0,
  limits: [
    {
      ...fixedWindows(90_000),
      name: "default",
      shadow: false,
      cost: 5,
      window: WINDOW,
      owner: 0,
    },
  ],
};

/** The steady clock and the wall clock advance together unless a test says otherwise. */
export const clock = { time: 0 };

/** A store with one key of 10,000 uses, and units ahead on it, which was asked twice already. It does not count units that come back. */
export function aProcess(own = PLAN) {
  const unused = { usage: usageOf(10_000), windows: [null] as (object | null)[], remembered: null };
  let state = unused;
  const charged = vi.fn((plan: ChargePlan, moment: ChargeMoment): SettledCharge => {
    const { result, next } = applyCharge(state as never, plan, moment);
    if (next !== null) state = { ...state, usage: next.usage, windows: [...next.windows] };
    return result as SettledCharge;
  });
  const settle = vi.fn(async (_workspaceId: string, _step: HoldStep): Promise<HoldResult> => {
    return { kind: "unknown" };
  });
  const holds = vi.fn(async () => []);
  let ids = 0;
  const ahead = createUnitsAhead(
    { charge: charged, settle, holds } as unknown as SettledStore,
    { ms: MS, share: 0.01 },
    () => clock.time,
    () => clock.time,
    () => {
      ids += 1;
      return `lse_${ids}`;
    },
  );
  const verify = (fields: Partial<ChargeMoment> = {}) =>
    ahead.charge(own, { now: clock.time, refill: null, ...fields }, true);
  for (let count = 0; count < 2; count += 1) verify();
  state = unused;
  charged.mockClear();
  return { ahead, verify, charged, settle };
}

export type Process = ReturnType<typeof aProcess>;

/** The fourth of four verifications in quick succession takes a lease: for 8 verifications, including itself. */
export function aLeasing(plan?: ChargePlan): Process {
  const made = aProcess(plan);
  made.verify();
  made.verify();
  expect(made.charged).toHaveBeenCalledTimes(2);
  return made;
}

/** What the store was told about each lease. */
export const reports = ({ settle }: Process) => settle.mock.calls.map(([, step]) => step);

export const report = (id: string, verifications: number) => ({
  kind: "end",
  id,
  uses: 2 * verifications,
  limits: [{ name: "default", cost: 5 * verifications }],
  rest: true,
});
