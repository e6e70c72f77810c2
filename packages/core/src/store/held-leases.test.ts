import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { noAnswer, unavailable } from "../errors.js";
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
import { createHeldLeases } from "./held-leases.js";
import type { EndStep, HoldResult } from "./settle.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  clock.time = 0;
});

afterEach(() => {
  vi.useRealTimers();
});

describe("what is reported when a lease is given back", () => {
  test("is exactly what was used of uses and of each limit, including the verification that took the lease", () => {
    const made = aLeasing();
    made.verify();
    made.verify();
    vi.advanceTimersByTime(MS);
    expect(reports(made)).toEqual([report("lse_1", 3)]);
  });

  test("is zero uses if the request for the lease got no answer: it is unknown whether there is one", async () => {
    const made = aProcess();
    made.verify();
    made.charged.mockImplementationOnce(() => {
      throw noAnswer(true, "lost");
    });
    expect(() => made.verify()).toThrow("lost");
    expect(reports(made)).toEqual([report("lse_1", 0)]);
  });

  test("is zero uses if the request for the lease got no answer, also if it fails asynchronously", async () => {
    const made = aProcess();
    made.verify();
    made.charged.mockImplementationOnce((() => Promise.reject(noAnswer(true, "lost"))) as never);
    await expect(made.verify()).rejects.toThrow("lost");
    expect(reports(made)).toEqual([report("lse_1", 0)]);
  });

  test("is reported again for a minute if it is unknown whether there is a lease: the request may arrive late", async () => {
    const made = aProcess();
    made.verify();
    made.settle.mockResolvedValueOnce({ kind: "unknown" }).mockImplementationOnce(async () => {
      clock.time = 70_000;
      return { kind: "unknown" };
    });
    made.charged.mockImplementationOnce(() => {
      throw noAnswer(true, "late");
    });
    expect(() => made.verify()).toThrow("late");
    await vi.advanceTimersByTimeAsync(100 * MS);
    expect(reports(made)).toEqual(Array(3).fill(report("lse_1", 0)));
  });

  test("is nothing if the store did not apply the request", () => {
    const made = aProcess();
    made.verify();
    made.charged.mockImplementationOnce(() => {
      throw unavailable("down");
    });
    expect(() => made.verify()).toThrow("down");
    expect(reports(made)).toEqual([]);
  });

  test("is repeated with the same figures until the store answers", async () => {
    const made = aLeasing();
    made.settle
      .mockRejectedValueOnce(unavailable("down"))
      .mockRejectedValueOnce(unavailable("down"));
    await vi.advanceTimersByTimeAsync(20 * MS);
    expect(reports(made)).toEqual(Array(3).fill(report("lse_1", 1)));
  });

  test("is final: the lease is never used again, even while the store has not answered", () => {
    const made = aLeasing();
    made.settle.mockReturnValue(new Promise(() => undefined));
    vi.advanceTimersByTime(MS);
    made.verify();
    expect(made.charged).toHaveBeenCalledTimes(3);
    expect(made.charged.mock.results[2]?.value).not.toHaveProperty("leased", true);
  });
});

describe("closing with a thousand leases", () => {
  const CALL_MS = 2_500;
  const close = async (settle: () => Promise<HoldResult>) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const called = vi.fn(async (_workspaceId: string, _step: EndStep) => {
      await new Promise((resolve) => setTimeout(resolve, CALL_MS));
      return settle();
    });
    const held = createHeldLeases({ settle: called }, MS, Date.now, Date.now);
    const since = { wall: 0, steady: 0 };
    for (let at = 0; at < 1_000; at += 1) {
      const confirms = [{ kind: "key", id: `key_${at}`, version: 3 }] as const;
      const lease = { id: `lse_${at}`, plan: { ...PLAN, confirms }, cost: 2, since, dueAt: null };
      held.add({ ...lease, until: 9e15, count: 8, charge: null, used: 1, returning: null });
    }
    const beganAt = Date.now();
    let endedAt = Number.NaN;
    const closing = held.giveAllBack().then(() => {
      endedAt = Date.now();
    });
    // Not until there are no more timers: others in this process may always set the next one.
    await vi.advanceTimersByTimeAsync(100_000);
    await closing;
    return { ms: endedAt - beganAt, told: new Set(called.mock.calls.map(([, { id }]) => id)) };
  };

  test("ends three seconds and a call later if the store does not answer", async () => {
    const { ms } = await close(() => Promise.reject(unavailable("down")));
    expect(ms).toBeLessThanOrEqual(3_000 + CALL_MS);
  });

  test("tells the store about each of them if it answers, however slowly", async () => {
    const { ms, told } = await close(async () => ({ kind: "unknown" }));
    expect(told.size).toBe(1_000);
    expect(ms).toBe(20 * CALL_MS);
  });
});

describe("a lease that ends in the step of the next charge", () => {
  const endsOf = ({ charged }: Process) => charged.mock.calls.slice(2).map(([, { ends }]) => ends);

  test("is reported by that step alone, whether that takes a lease or one verification", async () => {
    const made = aLeasing();
    for (let count = 0; count < 3; count += 1) made.verify();
    clock.time = MS;
    made.verify();
    clock.time = 2 * MS;
    made.verify();
    expect(endsOf(made)).toEqual([report("lse_1", 4), report("lse_2", 1)]);
    expect(made.charged.mock.calls.slice(2).map(([{ cost }]) => cost)).toEqual([2 * 8, 2]);
    await vi.advanceTimersByTimeAsync(MS);
    expect(made.settle).not.toHaveBeenCalled();
    await made.ahead.giveAllBack();
    expect(made.settle).not.toHaveBeenCalled();
  });

  test.each([
    ["has no answer", () => Promise.reject(noAnswer(true, "lost"))],
    ["was not sent", () => Promise.reject(unavailable("down"))],
    ["finds another record", () => Promise.resolve({ kind: "stale", moved: 0 })],
  ])("is reported again on its own if that %s", async (_, answer) => {
    const made = aLeasing();
    for (let count = 0; count < 3; count += 1) made.verify();
    made.charged.mockImplementationOnce(answer as never);
    clock.time = MS;
    await Promise.resolve(made.verify()).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    expect(endsOf(made)).toEqual([report("lse_1", 4)]);
    expect(reports(made)).toContainEqual(report("lse_1", 4));
    await made.ahead.giveAllBack();
    expect(reports(made).filter((step) => "id" in step && step.id === "lse_1")).toHaveLength(1);
  });

  test("is reported again on its own if that throws", () => {
    const made = aLeasing();
    made.charged.mockImplementationOnce(() => {
      throw noAnswer(true, "lost");
    });
    clock.time = MS;
    expect(() => made.verify()).toThrow("lost");
    return vi
      .advanceTimersByTimeAsync(0)
      .then(() => expect(reports(made)).toEqual([report("lse_1", 1)]));
  });

  test("is reported by one of two charges of one turn, and closing waits for that", async () => {
    const made = aLeasing();
    const answers: (() => void)[] = [];
    const charge = made.charged.getMockImplementation() as Process["charged"];
    made.charged.mockImplementation(((plan: ChargePlan, moment: ChargeMoment) => {
      const result = charge(plan, moment);
      return new Promise((resolve) => answers.push(() => resolve(result)));
    }) as never);
    clock.time = MS;
    const both = [made.verify(), made.verify()];
    expect(endsOf(made)).toEqual([report("lse_1", 1), undefined]);
    let isClosed = false;
    const closing = made.ahead.giveAllBack().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(isClosed).toBe(false);
    for (const go of answers) go();
    await Promise.all([...both, closing]);
    expect(made.settle).not.toHaveBeenCalled();
  });

  test("leaves its share to the next one", async () => {
    const made = aLeasing({ ...PLAN, limits: [] });
    for (let count = 0; count < 250; count += 1) {
      made.verify();
      await vi.advanceTimersByTimeAsync(0);
    }
    const taken = made.charged.mock.calls.slice(2).map(([{ cost }]) => cost);
    // A share of 10,000 uses is 100, and less as they become fewer: none has to wait for the one before.
    expect(taken).toEqual([98, 98, 98, 96, 96, 94, 94, 94]);
  });
});
