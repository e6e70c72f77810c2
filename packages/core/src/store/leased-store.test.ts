import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { unavailable } from "../errors.js";
import type { ChargeMoment, ChargePlan } from "./charge.js";
import { createLeasedStore, LEASED } from "./leased-store.js";
import type { SettledCharge, SettledStore } from "./settled-store.js";
import type { LeaseTimes } from "./workspace-state.js";

const MS = 500;
const SETTINGS = { ms: MS, share: 0.01 };
const CHARGED: SettledCharge = { kind: "charged", remaining: null, limits: [] };

const PLAN: ChargePlan = {
  workspaceId: "ws_default",
  revision: 7,
  confirms: [{ kind: "key", id: "key_1", version: 3 }],
  mode: "commit",
  cost: 1,
  uses: 0,
  limits: [],
  hold: undefined,
  memo: undefined,
};

const at = (now: number, fields: Partial<ChargeMoment> = {}): ChargeMoment => ({
  now,
  refill: null,
  ...fields,
});

/** A store with the given answers, in a workspace with these lease times, and how often it was asked. */
function aLeased(
  answer: () => SettledCharge = () => CHARGED,
  times: LeaseTimes | null = { grant: MS, wait: MS },
) {
  const known = { revision: 7, leases: times };
  const charge = vi.fn(answer);
  const changeLeases = vi.fn(
    async (_: string, change: (before: LeaseTimes | null) => LeaseTimes | null) => {
      known.leases = change(known.leases);
      // Plans that were made before are based on another revision.
      known.revision = 8;
      return { times: known.leases, version: known.revision };
    },
  );
  const available = { leases: () => known, changeLeases };
  const store = createLeasedStore(
    { charge } as unknown as SettledStore,
    available,
    SETTINGS,
    () => 0,
    () => performance.now(),
    () => "lse_1",
  );
  return { store, charge, changeLeases, known };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("a plan that takes nothing", () => {
  test("is sent to the store once, and then decided locally for 0.8 of the lease", () => {
    const { store, charge } = aLeased();
    expect(store.charge(PLAN, at(0))).toBe(CHARGED);
    vi.advanceTimersByTime(399);
    expect(store.charge(PLAN, at(399))).toBe(LEASED);
    vi.advanceTimersByTime(1);
    expect(store.charge(PLAN, at(399))).toBe(CHARGED);
    expect(charge).toHaveBeenCalledTimes(2);
  });

  test("is sent again when the lease is over by the wall clock: the steady one stands still while a machine sleeps", () => {
    const { store } = aLeased();
    store.charge(PLAN, at(0));
    expect(store.charge(PLAN, at(400))).toBe(CHARGED);
  });

  test("is decided locally from when the store was asked, not from when it answered", async () => {
    const { store, charge } = aLeased();
    charge.mockImplementationOnce(
      () =>
        new Promise<SettledCharge>((resolve) => {
          vi.advanceTimersByTime(300);
          resolve(CHARGED);
        }) as never,
    );
    await store.charge(PLAN, at(0));
    vi.advanceTimersByTime(100);
    expect(store.charge(PLAN, at(0))).toBe(CHARGED);
  });

  test("is refused as unavailable once the lease has ended, if the store is down", () => {
    const { store, charge } = aLeased();
    store.charge(PLAN, at(0));
    charge.mockImplementation(() => {
      throw unavailable("down");
    });
    expect(store.charge(PLAN, at(399))).toBe(LEASED);
    expect(() => store.charge(PLAN, at(400))).toThrow("down");
  });
});

test.each([
  ["limits of another kind", { limits: [{ algorithm: "sliding", owner: 0, cost: 1 }] }, {}],
  ["a reservation", { hold: {} }, {}],
  ["a look", { mode: "peek" }, {}],
  ["no revision", { revision: null }, {}],
  ["a request id", {}, { request: {} }],
])("a plan with %s is always sent to the store", (_, plan, moment) => {
  const { store, charge } = aLeased();
  const asked = { ...PLAN, ...plan } as ChargePlan;
  for (let time = 0; time < 3; time += 1) store.charge(asked, at(0, moment as never));
  expect(charge).toHaveBeenCalledTimes(3);
});

test.each<[string, SettledCharge]>([
  ["uses", { ...CHARGED, remaining: 5 } as SettledCharge],
  ["none left", { kind: "usage-exceeded", remaining: 0, limits: [] }],
  ["other records", { kind: "stale", moved: "revision" }],
])("an answer with %s gives no lease", (_, answer) => {
  const { store, charge } = aLeased(() => answer);
  for (let time = 0; time < 3; time += 1) expect(store.charge(PLAN, at(0))).toBe(answer);
  expect(charge).toHaveBeenCalledTimes(3);
});

describe("before other processes know of leases", () => {
  test.each<[string, LeaseTimes | null]>([
    ["none", null],
    ["shorter ones", { grant: MS - 1, wait: MS - 1 }],
  ])(
    "with %s, a process announces leases and gets none until it has confirmed the announcement",
    async (_, times) => {
      const { store, charge, changeLeases, known } = aLeased(undefined, times);
      store.charge(PLAN, at(0));
      store.charge(PLAN, at(0));
      await Promise.resolve();
      expect(changeLeases).toHaveBeenCalledTimes(1);
      expect(known.leases).toEqual({ grant: MS, wait: MS });
      // The plan is based on the revision before.
      Object.assign(known, { revision: 8 });
      store.charge(PLAN, at(0));
      expect(store.charge(PLAN, at(0))).toBe(CHARGED);
      expect(charge).toHaveBeenCalledTimes(4);
    },
  );

  test("longer leases of other processes stay", async () => {
    const { store, known } = aLeased(undefined, { grant: 100, wait: 9_000 });
    store.charge(PLAN, at(0));
    await Promise.resolve();
    expect(known.leases).toEqual({ grant: MS, wait: 9_000 });
  });
});

test("a process that was running when leases were ended does not begin again", async () => {
  const { store, charge, changeLeases, known } = aLeased();
  store.charge(PLAN, at(0));
  known.leases = { grant: 0, wait: 0 };
  vi.advanceTimersByTime(MS);
  for (let time = 0; time < 3; time += 1) expect(store.charge(PLAN, at(MS))).toBe(CHARGED);
  await Promise.resolve();
  expect(charge).toHaveBeenCalledTimes(4);
  expect(changeLeases).not.toHaveBeenCalled();
});

test("a process whose announcement of leases was lost in a failover announces them again", async () => {
  const { store, changeLeases, known } = aLeased();
  store.charge(PLAN, at(0));
  known.leases = null;
  vi.advanceTimersByTime(MS);
  expect(store.charge(PLAN, at(MS))).toBe(CHARGED);
  expect(store.charge(PLAN, at(MS))).toBe(CHARGED);
  await Promise.resolve();
  expect(changeLeases).toHaveBeenCalledTimes(1);
  expect(known.leases).toEqual({ grant: MS, wait: MS });
});
