import { describe, expect, test, vi } from "vitest";
import { unavailable } from "../errors.js";
import { createRandomPool } from "../lib/random.js";
import { fixedWindows } from "../testing/records.js";
import { TestStore } from "../testing/store.js";
import { createAvailabilityStore } from "./availability.js";
import { type Change, EMPTY_CHANGE } from "./change.js";
import type { ChargeMoment, ChargePlan } from "./charge.js";
import type { KeyStore } from "./key-store.js";
import type { HoldStep } from "./settle.js";
import { STATE_ADDRESS, stateRecord, type WorkspaceState } from "./workspace-state.js";

const WORKSPACE = "ws_default";
const KEY = { kind: "key", id: "key_1" } as const;

const aChange = (fields: Partial<Change> = {}): Change => ({ ...EMPTY_CHANGE, ...fields });

/** A store, and a guarded view of it by another process that has read it once. */
async function aGuarded() {
  const store = new TestStore();
  const plans: ChargePlan[] = [];
  const added: number[] = [];
  const moments: ChargeMoment[] = [];
  const settled: HoldStep[] = [];
  const charge: KeyStore["charge"] = (plan, moment) => {
    plans.push(plan);
    moments.push(moment);
    const moved = plan.confirms.findIndex(({ version, ...address }) => {
      return (store.get(address)?.record.version ?? null) !== version;
    });
    if (moved !== -1) return { kind: "stale", moved };
    const limits = plan.limits.map(({ name, limit }) => {
      const state = { at: 0, used: 0, earlier: [] };
      return { name, limit, remaining: limit, resetAt: 0, exceeded: false, state };
    });
    return { kind: "charged", remaining: null, limits };
  };
  const whole = {
    read: store.read.bind(store),
    commit: (...given: Parameters<KeyStore["commit"]>) => store.commit(...given),
    charge,
    addStatistics: async () => void added.push(store.changes.length),
    settle: async (_: string, step: HoldStep) => {
      settled.push(step);
      return { kind: "unknown" };
    },
  } as unknown as KeyStore;
  const guarded = createAvailabilityStore(whole, createRandomPool());
  await guarded.read(WORKSPACE, [KEY]);
  const enter = (state: WorkspaceState, version: number) =>
    store.commit(
      WORKSPACE,
      aChange({
        puts: [{ record: stateRecord(state, version, null) }],
        revision: store.revision + 1,
      }),
    );
  return { store, guarded, enter, plans, moments, settled, added };
}

test("a change waits for leases even in a workspace that is no longer cached", async () => {
  const { guarded } = await aGuarded();
  await guarded.changeLeases(WORKSPACE, () => ({ grant: 300, wait: 300 }));
  await guarded.read(WORKSPACE, [KEY]);
  for (let count = 0; count < 10_000; count += 1) await guarded.read(`ws_${count}`, []);
  expect(guarded.leaseWait(WORKSPACE)).toBe(300);
});

test("a workspace in use stays cached, and may be leased, however many others are read", async () => {
  const { guarded } = await aGuarded();
  const kept: boolean[] = [];
  for (let count = 0; count < 30_000; count += 1) {
    await guarded.read(`ws_${count}`, []);
    if (count % 1_000 === 0) kept.push(guarded.leases(WORKSPACE) !== undefined);
  }
  expect(kept).toEqual(Array(30).fill(true));
  expect(guarded.leases("ws_0")).toBeUndefined();
});

test("10,000 workspaces in turn all stay cached", async () => {
  const { guarded } = await aGuarded();
  let asked = 0;
  for (let count = 0; count < 30_000; count += 1) {
    const workspaceId = `ws_${count % 10_000}`;
    if (guarded.leases(workspaceId) === undefined) asked += 1;
    await guarded.read(workspaceId, []);
  }
  expect(asked).toBe(10_000);
});

const aPlan = (fields: Partial<ChargePlan> = {}): ChargePlan => ({
  workspaceId: WORKSPACE,
  revision: null,
  confirms: [],
  mode: "commit",
  cost: 1,
  uses: null,
  limits: [],
  ...fields,
});

describe("a workspace that is open", () => {
  test("has its state read once per revision", async () => {
    const { store, guarded } = await aGuarded();
    await guarded.read(WORKSPACE, [KEY]);
    await guarded.read(WORKSPACE, []);
    expect(store.reads).toEqual([[KEY, STATE_ADDRESS], [KEY], []]);
  });

  test("is read exactly as the store returns it", async () => {
    const { guarded } = await aGuarded();
    expect(await guarded.read("ws_new", [KEY])).toEqual({ revision: 0, found: [null] });
  });
});

describe.each(["incomplete", "moved"] as const)("a workspace that is %s", (state) => {
  const refused = { code: "STORE_UNAVAILABLE", reason: state, outcome: "not-applied" };

  test("refuses reads, changes and charges without a revision, even if a process knew it as open", async () => {
    const { guarded, enter } = await aGuarded();
    await enter({ state, transfer: "t" }, 7);
    const moment = { now: 0, refill: null };
    await expect(guarded.commit(WORKSPACE, aChange())).rejects.toMatchObject(refused);
    await expect(guarded.charge(aPlan(), moment)).rejects.toMatchObject(refused);
    await expect(guarded.read(WORKSPACE, [KEY])).rejects.toMatchObject(refused);
    await expect(guarded.read(WORKSPACE, [KEY])).rejects.toMatchObject(refused);
  });
});

test("an unreadable state does not count as open", async () => {
  const { store, guarded, enter } = await aGuarded();
  await enter({ state: "moved", transfer: "t" }, 7);
  store.damage(STATE_ADDRESS);
  await expect(guarded.read(WORKSPACE, [])).rejects.toMatchObject({ code: "STORE_CORRUPT" });
});

test.each<[body: unknown, version: number]>([
  ["open", 7],
  [{ state: "closed", transfer: "t" }, 7],
  [{ state: "open" }, 7],
  [{ state: "incomplete", transfer: "t", source: 1 }, 7],
  [{ state: "followed", transfer: "t" }, 7],
  [{ state: "followed", transfer: "t", trail: "x" }, 7],
  [{ state: "open", transfer: "t" }, 0],
])("a state that is %j at version %j is damaged", async (body, version) => {
  const { guarded, enter } = await aGuarded();
  await enter(body as WorkspaceState, version);
  const damaged = { code: "STORE_CORRUPT" };
  await expect(guarded.read(WORKSPACE, [])).rejects.toMatchObject(damaged);
  await expect(guarded.commit(WORKSPACE, aChange())).rejects.toMatchObject(damaged);
  await expect(guarded.charge(aPlan(), { now: 1, refill: null })).rejects.toMatchObject(damaged);
});

test("a change that is stale at a place that it does not have is retried no more often than others", async () => {
  const { store } = await aGuarded();
  const commit = vi.fn<KeyStore["commit"]>(async () => ({ kind: "stale", index: 9 }));
  const guarded = createAvailabilityStore(
    { read: store.read.bind(store), commit } as never,
    createRandomPool(),
  );
  expect(await guarded.commit(WORKSPACE, aChange())).toEqual({ kind: "stale", index: 9 });
  expect(commit).toHaveBeenCalledOnce();
});

describe("a workspace that is followed", () => {
  test("gets the address of every record that a change writes into its trail, in the same change", async () => {
    const { store, guarded, enter } = await aGuarded();
    await enter({ state: "followed", transfer: "t", trail: "3" }, 7);
    // The first attempt expects no state: it writes nothing, and the next one knows.
    await guarded.commit(WORKSPACE, aChange({ deletes: [KEY, KEY] }));
    const { puts, enters } = store.changes.at(-1) as Change;
    expect(puts.map(({ record }) => record.body)).toEqual([KEY]);
    expect(enters).toEqual([{ list: "$trail:3", id: puts[0]?.record.id }]);
  });

  test("gets the subjects of counted verifications into its trail, once the sums are written", async () => {
    const { store, guarded, enter, added } = await aGuarded();
    await enter({ state: "followed", transfer: "t", trail: "3" }, 7);
    await guarded.read(WORKSPACE, []);
    const subject = { kind: "api", id: "api_1" } as const;
    const counts = [{ subject, hourAt: 0, code: "VALID", count: 2 }] as const;
    await guarded.addStatistics(WORKSPACE, { counts, uses: [{ ...KEY, usedAt: 1 }] });
    expect(store.changes.at(-1)?.puts.map(({ record }) => record.body)).toEqual([subject, KEY]);
    expect(added).toEqual([store.changes.length - 1]);
    await enter({ state: "moved", transfer: "t" }, 8);
    await expect(guarded.addStatistics(WORKSPACE, { counts, uses: [] })).resolves.toBeUndefined();
  });

  test("gets the name of each window without an owner that is taken from or dropped into its trail", async () => {
    const { store, guarded, enter, plans } = await aGuarded();
    await enter({ state: "followed", transfer: "t", trail: "3" }, 7);
    await guarded.commit(WORKSPACE, aChange({ dropWindows: ["w"] }));
    expect(store.changes.at(-1)?.puts.map(({ record }) => record.body)).toEqual([{ window: "w" }]);
    const limit = { name: "n", window: "v", ...fixedWindows(1, 9), cost: 1, owner: null };
    await guarded.charge(aPlan({ limits: [limit] }), { now: 0, refill: null });
    expect(store.changes.at(-1)?.puts.map(({ record }) => record.body)).toEqual([{ window: "v" }]);
    expect(plans.at(-1)?.limits).toEqual([limit]);
  });

  test("gets each record whose counters a charge may change into its trail before the charge, once for each state", async () => {
    const { store, guarded, enter, plans } = await aGuarded();
    await enter({ state: "followed", transfer: "t", trail: "3" }, 7);
    await guarded.read(WORKSPACE, []);
    const moment = { now: 0, refill: null };
    const charge = (revision: number, fields: Partial<ChargePlan> = {}) =>
      guarded.charge(
        aPlan({ revision, confirms: [{ ...KEY, version: null }], uses: 0, ...fields }),
        moment,
      );
    const before = store.changes.length;
    await charge(1, { mode: "peek" });
    expect(store.changes).toHaveLength(before);
    for (let time = 0; time < 2; time += 1) await charge(1);
    expect(plans).toHaveLength(3);
    expect(store.changes).toHaveLength(before + 1);
    expect(store.changes.at(-1)?.puts.map(({ record }) => record.body)).toEqual([KEY]);
    expect(store.changes.at(-1)?.enters).toMatchObject([{ list: "$trail:3" }]);
    // Another trail, which this process has not heard of when it is asked.
    await enter({ state: "followed", transfer: "t", trail: "4" }, 8);
    await charge(2);
    expect(store.changes.at(-1)?.enters).toMatchObject([{ list: "$trail:4" }]);
    await enter({ state: "moved", transfer: "t" }, 9);
    await expect(charge(3)).rejects.toMatchObject({ reason: "moved" });
    expect(plans).toHaveLength(4);
  });

  test("ends a hold before the charge that would end it in its step, so that the trail has what it touched", async () => {
    const { guarded, enter, moments, settled } = await aGuarded();
    await guarded.read(WORKSPACE, []);
    const ends = { kind: "end", id: "lse_1", uses: 1, limits: [], rest: true } as const;
    const charge = async () =>
      guarded.charge(aPlan({ revision: 0 }), { now: 0, refill: null, ends });
    await charge();
    expect(settled).toEqual([]);
    await enter({ state: "followed", transfer: "t", trail: "3" }, 7);
    await guarded.read(WORKSPACE, []);
    await charge();
    expect(settled).toEqual([ends]);
    expect(moments.map((each) => each.ends)).toEqual([ends, undefined]);
  });

  test("does not report the end of a hold as not applied if the trail cannot be written", async () => {
    const { store, guarded, enter, settled } = await aGuarded();
    await enter({ state: "followed", transfer: "t", trail: "3" }, 7);
    await guarded.read(WORKSPACE, []);
    vi.spyOn(store, "commit").mockRejectedValueOnce(unavailable("the store is down"));
    const step = { kind: "end", id: "rsv_1", uses: 1, limits: [], rest: true } as const;
    const ended = guarded.settle(WORKSPACE, step, { now: 0, revision: null });
    await expect(ended).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
    expect(settled).toEqual([step]);
    expect(store.changes).toHaveLength(1);
  });
});
