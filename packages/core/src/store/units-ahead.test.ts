import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { unavailable } from "../errors.js";
import {
  aLeasing,
  aProcess,
  clock,
  MS,
  PLAN,
  type Process,
  report,
  reports,
} from "../testing/leasing.js";
import type { ChargeMoment, ChargePlan } from "./charge.js";
import type { SettledCharge } from "./settled-store.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  clock.time = 0;
});

afterEach(() => {
  vi.useRealTimers();
});

describe("a lease", () => {
  test("decides without the store, and its verdicts count down by one verification", () => {
    const { verify, charged } = aLeasing();
    expect(verify()).toMatchObject({
      leased: true,
      remaining: 10_000 - 3 * 2,
      limits: [{ remaining: 90_000 - 3 * 5 }],
    });
    expect(charged).toHaveBeenCalledTimes(2);
  });

  test("is used for 0.8 of its time, and not at that instant", () => {
    const { verify, charged } = aLeasing();
    clock.time = 399;
    expect(verify()).toHaveProperty("leased", true);
    clock.time = 400;
    verify();
    expect(charged).toHaveBeenCalledTimes(3);
  });

  test("is not used once the wall clock says that its time is over: the steady one stands still while a machine sleeps", () => {
    const { verify, charged } = aLeasing();
    verify({ now: 400 });
    expect(charged).toHaveBeenCalledTimes(3);
  });

  test("of a key in use is followed by the next one at once", () => {
    const { verify, charged } = aLeasing();
    for (let count = 0; count < 3; count += 1) verify();
    clock.time = MS + 1;
    verify();
    expect(charged.mock.calls.slice(2).map(([{ cost }]) => cost)).toEqual([2 * 8]);
  });

  test("that was not worth it is followed by verifications that ask the store, like the first of a key", () => {
    const { verify, charged } = aLeasing();
    for (let count = 0; count < 2; count += 1) verify();
    clock.time = MS + 1;
    for (let count = 0; count < 4; count += 1) verify();
    expect(charged.mock.calls.slice(2).map(([{ cost }]) => cost)).toEqual([2, 2, 2, 2 * 6]);
  });

  test("is not used past the edge of a window", () => {
    clock.time = 59_900;
    const { verify, charged } = aLeasing();
    clock.time = 59_999;
    expect(verify()).toHaveProperty("leased", true);
    clock.time = 60_000;
    verify();
    expect(charged).toHaveBeenCalledTimes(3);
  });

  test("of a sliding limit is used within the group, a sixteenth of the span, in which it was taken", () => {
    const limits = PLAN.limits.map((each) => ({ ...each, algorithm: "sliding" as const }));
    clock.time = 3_749 - 100;
    const { verify, charged } = aLeasing({ ...PLAN, limits });
    clock.time = 3_749;
    expect(verify()).toHaveProperty("leased", true);
    clock.time = 3_750;
    verify();
    expect(charged).toHaveBeenCalledTimes(3);
  });

  test("is recorded with the identity as well, if it takes units of that", () => {
    const confirms = [...PLAN.confirms, { kind: "identity" as const, id: "id_1", version: 2 }];
    for (const [plan, most] of [
      [{ ...PLAN, confirms }, [100]],
      [{ ...PLAN, confirms, uses: 1 }, [100, 1_000]],
      [
        { ...PLAN, confirms, limits: PLAN.limits.map((each) => ({ ...each, owner: 1 })) },
        [100, 1_000],
      ],
    ] as const)
      expect(aLeasing(plan).charged.mock.calls.at(-1)?.[0].hold).toMatchObject({ most });
  });

  test("takes one share of an identity for all keys of a process together, even while the store has not answered", () => {
    const made = aProcess();
    const plans = Array.from({ length: 8 }, (_, at) => ({
      ...PLAN,
      uses: 1,
      limits: [],
      confirms: [
        { kind: "key" as const, id: `key_${at}`, version: 3 },
        { kind: "identity" as const, id: "id_1", version: 2 },
      ],
    }));
    const ask = (plan: ChargePlan) =>
      made.ahead.charge(plan, { now: clock.time, refill: null }, true);
    for (const plan of [...plans, ...plans, ...plans]) ask(plan);
    made.charged.mockClear();
    made.charged.mockImplementation((() => new Promise(() => undefined)) as never);
    for (const plan of plans) void ask(plan);
    // A hundredth of what is left is 99: for 6 times 8 verifications of two uses, and for one.
    const costs = made.charged.mock.calls.map(([{ cost }]) => cost);
    expect(costs).toEqual([16, 16, 16, 16, 16, 16, 2, 2]);
  });

  test("is not used once a refill falls due that was not due when it was taken", () => {
    const { verify, charged } = aLeasing();
    verify({ refill: { dueAt: 1, amount: 10 } as never });
    expect(charged).toHaveBeenCalledTimes(3);
  });
});

describe("closing", () => {
  test("gives back what is held, and takes nothing more", async () => {
    const made = aLeasing();
    await made.ahead.giveAllBack();
    expect(reports(made)).toEqual([report("lse_1", 1)]);
    for (let count = 0; count < 5; count += 1) made.verify();
    expect(made.charged.mock.calls.slice(2).map(([{ cost }]) => cost)).toEqual([2, 2, 2, 2, 2]);
  });

  test("waits for a request that has no answer yet, and gives those units back too", async () => {
    const made = aProcess();
    made.verify();
    let answer: (result: SettledCharge) => void = () => undefined;
    const charge = made.charged.getMockImplementation() as Process["charged"];
    made.charged.mockImplementationOnce(((plan: ChargePlan, moment: ChargeMoment) => {
      const result = charge(plan, moment);
      return new Promise((resolve) => {
        answer = () => resolve(result);
      });
    }) as never);
    const verifying = made.verify();
    const closing = made.ahead.giveAllBack();
    answer({ kind: "conflict" });
    await Promise.all([verifying, closing]);
    expect(reports(made)).toEqual([report("lse_1", 1)]);
  });

  test("gives back many leases a few at once, so that none waits until the store seems not to answer", async () => {
    const made = aProcess();
    const plans = Array.from({ length: 200 }, (_, at) => ({
      ...PLAN,
      cost: 0,
      confirms: [{ kind: "key" as const, id: `key_${at}`, version: 3 }],
    }));
    for (const plan of Array.from({ length: 4 }, () => plans).flat())
      made.ahead.charge(plan, { now: clock.time, refill: null }, true);
    let [running, most] = [0, 0];
    made.settle.mockImplementation(async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return { kind: "unknown" };
    });
    await made.ahead.giveAllBack();
    expect(reports(made).length).toBe(200);
    expect(most).toBe(50);
  });

  /** Time passes until closing has resolved. */
  async function close({ ahead }: Process): Promise<void> {
    let isClosed = false;
    const closing = ahead.giveAllBack().then(() => {
      isClosed = true;
    });
    for (; !isClosed && clock.time < 60_000; clock.time += 10)
      await vi.advanceTimersByTimeAsync(10);
    return closing;
  }

  test("tries again while the store is away, at once and then every 50 ms", async () => {
    const made = aLeasing();
    made.settle.mockRejectedValueOnce(unavailable("down"));
    await vi.advanceTimersByTimeAsync(MS);
    made.settle
      .mockRejectedValueOnce(unavailable("down"))
      .mockRejectedValueOnce(unavailable("down"));
    await close(made);
    expect(reports(made)).toEqual(Array(4).fill(report("lse_1", 1)));
    expect(clock.time).toBeLessThanOrEqual(150);
  });

  test("gives up after three seconds, however many leases there are", async () => {
    const made = aLeasing();
    const plans = Array.from({ length: 60 }, (_, at) => ({
      ...PLAN,
      confirms: [{ kind: "key" as const, id: `key_${at}`, version: 3 }],
    }));
    for (let count = 0; count < 4; count += 1)
      for (const plan of plans) made.ahead.charge(plan, { now: clock.time, refill: null }, true);
    made.settle.mockRejectedValue(unavailable("down"));
    await close(made);
    expect(clock.time).toBeGreaterThanOrEqual(3_000);
    expect(clock.time).toBeLessThanOrEqual(3_100);
    expect(reports(made).length).toBeGreaterThan(60);
  });
});

test("a verification that the store refuses is sent again once this process has given back what it holds of the key", async () => {
  const made = aLeasing();
  const refused: SettledCharge = { kind: "usage-exceeded", remaining: 0, limits: [] };
  made.charged.mockImplementationOnce(() => refused);
  clock.time = 10;
  // For another question about the same key.
  const other = { ...PLAN, cost: 9_000 };
  await made.ahead.charge(other, { now: clock.time, refill: null }, true);
  expect(reports(made)).toEqual([report("lse_1", 1)]);
  expect(made.charged.mock.calls.slice(2).map(([{ cost }]) => cost)).toEqual([9_000, 9_000]);
});

test("a verification that the store refuses does not wait for a store that does not answer a return", async () => {
  const made = aLeasing();
  made.settle.mockRejectedValue(unavailable("down"));
  vi.advanceTimersByTime(MS);
  const refused: SettledCharge = { kind: "usage-exceeded", remaining: 0, limits: [] };
  made.charged.mockImplementation(() => refused);
  expect(await made.verify()).toBe(refused);
  expect(reports(made)).toEqual([report("lse_1", 1)]);
});
