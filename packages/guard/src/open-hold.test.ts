import { AsyncLocalStorage } from "node:async_hooks";
import type { Latchkey } from "@latchkey/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDecision } from "./decide.js";
import type { GuardQuestion } from "./question.js";
import { bearing, open, type TestRequest } from "./testing/open.js";
import { aTurn, reserved, TTL_MS } from "./testing/reserved.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a reservation is ended once", () => {
  test("by the end of the response, which settles all of it, however often it ends", async () => {
    const { admit, remaining, openCount, calls, codes } = await reserved();
    const { end } = await admit();
    expect([await remaining(), await openCount()]).toEqual([60, 1]);
    end();
    end();
    end("release");
    await aTurn();
    end();
    await aTurn();
    expect([await remaining(), await openCount()]).toEqual([60, 0]);
    expect(calls).toEqual(["settle"]);
    expect(codes()).toEqual([]);
    // Only the guard's deadline, which all of its requests share.
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  });

  test("by the handler, before the end of the response or in the same turn", async () => {
    for (const isBefore of [true, false]) {
      const { admit, remaining, calls, codes } = await reserved();
      const { apiKey, end } = await admit();
      if (!isBefore) end();
      const settled = apiKey.settle({ cost: 5 });
      if (isBefore) end();
      await aTurn();
      expect(await settled).toEqual({ remaining: 95, taken: { uses: 5, ratelimits: [] } });
      expect([await remaining(), calls, codes()]).toEqual([95, ["settle"], []]);
    }
  });

  test("by whatever ends the response, in the async context of its own request", async () => {
    const requests = new AsyncLocalStorage<string>();
    const onError = vi.fn(() => requests.getStore());
    const { admit, storeIsAway } = await reserved(undefined, { onError });
    const [first, second] = await Promise.all([
      requests.run("first", admit),
      requests.run("second", admit),
    ]);
    storeIsAway(true);
    requests.run("third", first.end);
    second.end("release");
    await aTurn();
    expect(onError.mock.results.map(({ value }) => value)).toEqual(["second", "first"]);
  });

  test("by a handler that does not state a cost, with all of it", async () => {
    const { admit, remaining, codes } = await reserved();
    const { apiKey, end } = await admit();
    const settled = { remaining: 60, taken: { uses: 40, ratelimits: [] } };
    expect(await apiKey.settle({ cost: undefined })).toEqual(settled);
    end();
    expect([await remaining(), codes()]).toEqual([60, []]);
  });

  test("not by a handler that comes too late: it gets null, and onError gets the error", async () => {
    const { admit, remaining, codes } = await reserved();
    const { apiKey, end } = await admit();
    end();
    await aTurn();
    expect(await apiKey.settle({ cost: 5 })).toBeNull();
    expect(await apiKey.release()).toBeNull();
    expect(codes()).toEqual(["reservation-ended", "reservation-ended"]);
    expect(await remaining()).toBe(60);
    // With the same figures, the result is repeated.
    expect(await apiKey.settle()).toEqual({ remaining: 60, taken: { uses: 40, ratelimits: [] } });
  });

  test("by a handler that settles twice with the same figures; a third call with others is refused", async () => {
    const { admit, remaining, codes } = await reserved();
    const { apiKey, end } = await admit();
    const [one, same, other] = await Promise.all([
      apiKey.settle({ cost: 5 }),
      apiKey.settle({ remaining: { cost: 5 } }),
      apiKey.settle({ cost: 6 }),
    ]);
    end();
    await aTurn();
    expect([one, same, other]).toEqual([one, one, null]);
    expect([await remaining(), codes()]).toEqual([95, ["reservation-ended"]]);
  });

  test("by the host through latchkey itself, which is not an error", async () => {
    const { context, admit, remaining, codes } = await reserved();
    const { apiKey, end } = await admit();
    await context.latchkey.settle({
      reservationId: apiKey.reservationId,
      remaining: { cost: 5 },
    });
    end();
    await aTurn();
    expect([await remaining(), codes()]).toEqual([95, []]);
  });

  test("with limits: what is left out is charged in full, and slots are freed", async () => {
    const question = {
      reserve: 40,
      ratelimits: [{ name: "tokens", cost: 30 }, { name: "parallel" }],
    } satisfies GuardQuestion<TestRequest>;
    const { admit, openCount } = await reserved(question);
    const { apiKey } = await admit();
    expect(await apiKey.settle({ cost: 1, ratelimits: [{ name: "tokens", cost: 20 }] })).toEqual({
      remaining: 99,
      taken: { uses: 1, ratelimits: [{ name: "tokens", cost: 20 }] },
    });
    expect(await openCount()).toBe(0);
  });

  test("and costs nothing if no handler was called: the host was late, or responded itself", async () => {
    const { admit, remaining } = await reserved();
    const { end } = await admit();
    end("release");
    await aTurn();
    expect(await remaining()).toBe(100);
  });
});

describe("a mistake of the handler", () => {
  test.each([
    ["more than is reserved", { cost: 41 }, "over-reservation"],
    ["a cost that is none", { cost: -1 }, "BAD_REQUEST"],
    ["cost and remaining", { cost: 1, remaining: { cost: 1 } }, "BAD_REQUEST"],
    ["a limit that was not reserved", { ratelimits: [{ name: "tokens", cost: 1 }] }, "BAD_REQUEST"],
    ["a field that is none", { costs: 1 }, "BAD_REQUEST"],
    ["a bare figure", 5, "BAD_REQUEST"],
    ["a text", "5", "BAD_REQUEST"],
    ["nothing that can be read", null, null],
  ])("goes to onError, and the end of the response settles all of it: %s", async (_, used, why) => {
    const question = { reserve: 40, onClose: "release" } as const;
    const { admit, remaining, codes } = await reserved(question);
    const { apiKey, end } = await admit();
    const settled = apiKey.settle(used as never);
    end();
    await aTurn();
    if (why === null) expect(await settled).toMatchObject({ remaining: 60 });
    else expect([await settled, codes()]).toEqual([null, [why]]);
    await aTurn();
    // The handler has tried to settle, so onClose no longer applies.
    expect(await remaining()).toBe(60);
  });

  test("is told that settle takes an object, if it passes a bare figure", async () => {
    const { admit, messages } = await reserved();
    const { apiKey } = await admit();
    expect(await apiKey.settle(5 as never)).toBeNull();
    expect(messages()).toEqual(["settle takes an object, such as { cost: 812 }"]);
  });

  test("can be corrected while the response is open", async () => {
    const { admit, remaining, codes } = await reserved();
    const { apiKey, end } = await admit();
    expect(await apiKey.settle({ cost: 41 })).toBeNull();
    expect(await apiKey.settle({ cost: 9 })).toMatchObject({ remaining: 91 });
    end();
    await aTurn();
    expect([await remaining(), codes()]).toEqual([91, ["over-reservation"]]);
  });
});

describe("while the store is unavailable", () => {
  test("a handler's settlement is reported to onError, and retried until it succeeds", async () => {
    const { admit, remaining, codes, pass, storeIsAway, openCount } = await reserved();
    const { apiKey, end } = await admit();
    storeIsAway(true);
    expect(await apiKey.settle({ cost: 5 })).toBeNull();
    end();
    await pass(1_000);
    expect(codes().length).toBeGreaterThanOrEqual(3);
    expect(codes().length).toBeLessThanOrEqual(5);
    expect(new Set(codes())).toEqual(new Set(["STORE_UNAVAILABLE"]));
    storeIsAway(false);
    await pass(3_000);
    expect([await remaining(), await openCount()]).toEqual([95, 0]);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  });

  test("the settlement at the end of a response is retried, and a lost answer changes nothing", async () => {
    const { admit, remaining, pass, loseAnswers, calls } = await reserved();
    const { end } = await admit();
    loseAnswers(true);
    end();
    await pass(500);
    expect(calls.length).toBeGreaterThan(1);
    loseAnswers(false);
    await pass(3_000);
    expect(await remaining()).toBe(60);
    expect(new Set(calls)).toEqual(new Set(["settle"]));
  });

  test("retries stop when the reservation has expired, and everything is returned", async () => {
    const { admit, remaining, pass, storeIsAway, calls } = await reserved();
    const { apiKey, end } = await admit();
    storeIsAway(true);
    expect(await apiKey.settle({ cost: 5 })).toBeNull();
    end();
    await pass(TTL_MS + 1_000);
    const sent = calls.length;
    expect(sent).toBeLessThanOrEqual(12);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
    storeIsAway(false);
    await pass(TTL_MS);
    expect([calls.length, await remaining()]).toEqual([sent, 100]);
  });

  test("a renewal that fails is reported to onError, and repeated after the next third", async () => {
    const { admit, codes, pass, storeIsAway, openCount, calls } = await reserved();
    const { end } = await admit();
    storeIsAway(true);
    await pass(TTL_MS / 3 + 10);
    expect(codes()).toEqual(["STORE_UNAVAILABLE"]);
    storeIsAway(false);
    await pass(2 * TTL_MS);
    expect(calls).toEqual(Array.from({ length: 7 }, () => "renew"));
    expect(await openCount()).toBe(1);
    end();
    await aTurn();
  });

  test("in a process that sleeps for too long, the expiry of its reservation is reported once", async () => {
    const { context, admit, remaining, codes, pass } = await reserved();
    const { end } = await admit();
    context.advance(TTL_MS);
    await pass(TTL_MS);
    expect(codes()).toEqual(["reservation-expired"]);
    end();
    await aTurn();
    expect([codes().length, await remaining()]).toEqual([1, 100]);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  });
});

describe("a hold", () => {
  test("is renewed after every third of its ttl, or of the duration of its slots if that is shorter", async () => {
    for (const [ratelimits, expected] of [
      [[], 6],
      [[{ name: "parallel" }], 12],
    ] as const) {
      const question = { reserve: { cost: 1, ttl: TTL_MS }, ratelimits };
      const { admit, calls, pass, openCount, codes } = await reserved(question);
      const { end } = await admit();
      await pass(2 * TTL_MS + 50);
      expect(calls).toEqual(Array.from({ length: expected }, () => "renew"));
      expect([await openCount(), codes()]).toEqual([1, []]);
      end();
      await aTurn();
    }
  });

  test("is no longer renewed when it was settled, or the response is over", async () => {
    const { admit, calls, pass } = await reserved();
    const [one, other] = [await admit(), await admit()];
    await one.apiKey.settle({ cost: 1 });
    other.end();
    await pass(2 * TTL_MS);
    expect(calls).toEqual(["settle", "settle"]);
    one.end();
    await aTurn();
    expect(calls).toEqual(["settle", "settle"]);
  });

  test("of a key that is deleted is gone, which is not an error", async () => {
    const { context, admit, codes, pass } = await reserved();
    const { apiKey, end } = await admit();
    await context.latchkey.deleteKey({ keyId: apiKey.keyId });
    await pass(TTL_MS);
    end();
    await aTurn();
    expect(codes()).toEqual([]);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  });

  test("of a request that has timed out is given back", async () => {
    vi.useRealTimers();
    vi.useFakeTimers();
    const late = (ms: number) => new Promise<number>((resolve) => setTimeout(resolve, ms, 40));
    const context = await open();
    const key = await context.issue({ remaining: 100 });
    const verifier: Latchkey["verifier"] = (question) => {
      const verify = context.latchkey.verifier(question);
      return async (...call) => {
        await late(3_000);
        return verify(...call);
      };
    };
    const onError = vi.fn();
    const options = { timeoutMs: 2_000, onError };
    const latchkey = { ...context.latchkey, verifier };
    const decision = createDecision(latchkey, options)({ reserve: 40 })(bearing(key), null);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await decision).toMatchObject({ admitted: false, status: 503 });
    await vi.advanceTimersByTimeAsync(2_000);
    const { id: keyId } = await context.latchkey.whoami({ key });
    expect((await context.latchkey.getKey({ keyId })).remaining).toBe(100);
    expect(onError).toHaveBeenCalledOnce();
  });
});
