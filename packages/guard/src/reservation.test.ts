import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDecision } from "./decide.js";
import { open, type TestRequest } from "./testing/open.js";
import { aTurn, reserved } from "./testing/reserved.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("an admission that holds nothing has no end, and neither settle nor release", async () => {
  const { decide } = await reserved({ cost: 1 });
  const decision = await decide();
  expect(Object.keys(decision)).toEqual(["admitted", "apiKey", "headers"]);
  expect(decision).not.toHaveProperty("apiKey.settle");
});

test("an admission with slots has an end, but no settle: slots have no cost to state", async () => {
  const { decide, openCount } = await reserved({ ratelimits: [{ name: "parallel" }] });
  const decision = await decide();
  expect(decision).toMatchObject({ admitted: true, apiKey: { reservationId: expect.any(String) } });
  expect(decision).not.toHaveProperty("apiKey.settle");
  if (decision.admitted) decision.end?.();
  expect(await openCount()).toBe(0);
});

test("a reserved key prints and serializes like any verdict, without its methods", async () => {
  const { admit } = await reserved();
  const { apiKey, end } = await admit();
  expect(Object.keys(structuredClone(apiKey))).toEqual(Object.keys(apiKey));
  expect(JSON.parse(JSON.stringify(apiKey))).toMatchObject({ keyId: apiKey.keyId, remaining: 60 });
  end();
  await aTurn();
});

describe("a question that reserves", () => {
  test.each([
    [{ reserve: "40" }, '"reserve" must be a number of uses, a function or an object'],
    [{ reserve: null }, '"reserve" must be an object'],
    [{ reserve: { costs: 1 } }, '"reserve.costs" is not a field of it'],
    [{ reserve: { ttl: undefined } }, '"reserve.ttl" must not be undefined'],
    [{ reserve: undefined }, '"reserve" must not be undefined'],
    [{ reserve: 4, cost: 1 }, '"cost" must not be given with "reserve"'],
    [{ reserve: 4, onClose: "keep" }, '"onClose" must be "settle" or "release"'],
    [{ onClose: "release" }, '"onClose" is only allowed with "reserve"'],
    [{ reserve: -1 }, '"reserve" must be a whole number >= 0'],
    [{ reserve: { cost: 1.5 } }, '"reserve.cost" must be a whole number >= 0'],
    [{ reserve: { cost: 1, ttl: 999 } }, '"ttl" must be from 1,000 to 86,400,000 ms'],
    [{ reserve: { cost: 1, ttl: "25h" } }, '"ttl" must be'],
  ])("%j is refused by name", async (question, message) => {
    const { latchkey } = await open();
    expect(() => createDecision(latchkey)(question as never)).toThrow(message);
  });

  test("can have a function that returns the cost, which is checked", async () => {
    for (const reserve of [
      (request: TestRequest) => request.tiles * 10,
      { cost: async (request: TestRequest) => request.tiles * 10 },
    ]) {
      const { admit, remaining } = await reserved({ reserve });
      const { end } = await admit();
      expect(await remaining()).toBe(90);
      end();
      await aTurn();
    }
    const { decide, onError } = await reserved({ reserve: () => 1.5 });
    expect(await decide()).toMatchObject({ admitted: false, status: 500 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      message: '"reserve" must be a whole number >= 0: its function returned something else',
    });
  });

  test("reserves one use for five minutes by default", async () => {
    const { context, admit, remaining } = await reserved({ reserve: {} });
    const { apiKey, end } = await admit();
    expect(apiKey.expiresAt - context.latchkey.now()).toBe(300_000);
    expect(await remaining()).toBe(99);
    end();
    await aTurn();
  });
});
