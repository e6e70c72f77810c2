import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDeadline, type Turn } from "./deadline.js";
import type { GuardOptions } from "./options.js";
import type { GuardQuestion } from "./question.js";
import { bearing, deciding, open, refused, type TestRequest } from "./testing/open.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => undefined);
const nothing = () => undefined;

describe("the time of a request", () => {
  test.each<[string, GuardQuestion<TestRequest>, GuardOptions<TestRequest>]>([
    ["getKey", {}, { getKey: never }],
    ["getAddress", {}, { getAddress: never }],
    [
      "getAddress of a guard that counts",
      {},
      { getAddress: never, limitByAddress: { limit: 1, duration: "1m" } },
    ],
    ["cost", { cost: never }, {}],
    ["the cost of a limit", { ratelimits: [{ name: "a", cost: never }] }, {}],
    ["onRefusal", { permissions: "tiles.write" }, { onRefusal: never }],
  ])(
    "ends after 10 seconds if %s never does: 503, reported to the host",
    async (_, question, options) => {
      const context = await open();
      const key = await context.issue();
      const onError = vi.fn();
      const request = { tiles: 3 };
      const decision = deciding(context, question, { ...options, onError })(bearing(key), request);
      const settled = vi.fn();
      void decision.then(settled);
      await vi.advanceTimersByTimeAsync(9_999);
      expect(settled).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(2);
      expect(refused(await decision)).toMatchObject({
        code: "STORE_UNAVAILABLE",
        status: 503,
        headers: { "Retry-After": "1" },
      });
      expect(onError).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ code: "STORE_UNAVAILABLE", outcome: "unknown" }),
        request,
      );
    },
  );

  test("ends after timeoutMs if the store never answers, and a late answer changes nothing", async () => {
    const context = await open();
    let answer: (verdict: never) => void = () => undefined;
    const verify = () => new Promise<never>((resolve) => (answer = resolve));
    const latchkey = { ...context.latchkey, verifier: () => verify };
    const onError = vi.fn();
    const onRefusal = vi.fn();
    const options = { timeoutMs: "2s", onError, onRefusal } as const;
    const decision = deciding({ latchkey }, {}, options)(bearing("some-key"));
    await vi.advanceTimersByTimeAsync(2_001);
    expect(await decision).toMatchObject({ status: 503 });
    answer({ valid: false, code: "NOT_FOUND" } as never);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await decision).toMatchObject({ status: 503 });
    expect(onError).toHaveBeenCalledOnce();
  });

  test("can run out before anything is taken, if getKey, getAddress or a cost takes too long", async () => {
    const context = await open();
    const key = await context.issue({ remaining: 5 });
    const late = <Value>(value: Value) =>
      new Promise<Value>((resolve) => setTimeout(resolve, 3_000, value));
    const onError = vi.fn();
    for (const [question, options] of [
      [{}, { getKey: () => late(key) }],
      [{}, { getAddress: () => late(null) }],
      [{ cost: () => late(1) }, {}],
    ] as const) {
      const decide = deciding(context, question, { ...options, timeoutMs: 1_000, onError });
      const decision = decide(bearing(key));
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await decision).toMatchObject({ status: 503 });
    }
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ remaining: 4 });
    expect(onError).toHaveBeenCalledTimes(3);
  });

  test("starts with the request: a later one ends later, by the same timer", async () => {
    const within = createDeadline(1_000);
    const ended: string[] = [];
    const work = (name: string) => within(nothing, () => void ended.push(name));
    void work("first");
    await vi.advanceTimersByTimeAsync(600);
    void work("second");
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(401);
    expect(ended).toEqual(["first"]);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(600);
    expect(ended).toEqual(["first", "second"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("ends in its own async context, so `onError` finds its request", async () => {
    const requests = new AsyncLocalStorage<string>();
    const within = createDeadline(1_000);
    const late = () => requests.getStore();
    const ends = ["first", "second"].map((id) => requests.run(id, () => within(nothing, late)));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(ends)).toEqual(["first", "second"]);
  });

  test("ends by a timer that a test moves, though the clock of the process stands still", async () => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const within = createDeadline(60_000);
    const first = within(nothing, () => "first");
    const second = within(nothing, () => "second");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await first).toBe("first");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await second).toBe("second");
  });

  test("leaves at most one timer behind, which fires once and sets no other", async () => {
    const within = createDeadline(1_000);
    for (let index = 0; index < 100; index += 1)
      expect(
        await within(
          (_, settle) => settle(index),
          () => -1,
        ),
      ).toBe(index);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is reported to late work once, when it is over", async () => {
    const within = createDeadline(1_000);
    const whenOver = vi.fn();
    let turn: Turn | undefined;
    const result = within(
      (its) => {
        turn = its;
        its.whenOver = whenOver;
      },
      () => "late",
    );
    await vi.advanceTimersByTimeAsync(5_000);
    expect([await result, turn?.isOver, whenOver.mock.calls.length]).toEqual(["late", true, 1]);
  });
});
