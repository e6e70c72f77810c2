import { createLatchkey, type KeyStore, type Latchkey, type LatchkeyError } from "@latchkey/core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type RedisStoreOptions, redisStore } from "./index.js";
import { createChance } from "./testing/chance.js";
import { errorOf, isSettledWithin, untilAnswered } from "./testing/errors.js";
import { type FaultyLink, startProxy } from "./testing/proxy.js";
import { PATIENT, startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const UNKNOWN = { code: "STORE_UNAVAILABLE", outcome: "unknown" };
const TIMEOUTS = { commandTimeoutMs: 300, configTimeoutMs: 2_000, connectTimeoutMs: 500 };
/** A call expires up to an eighth late. */
const LATEST_MS = TIMEOUTS.commandTimeoutMs * 1.125 + 1_000;

describeWithServers("a link that loses answers", () => {
  let server: TestServer;
  let proxy: FaultyLink;
  const stores: KeyStore[] = [];

  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    proxy = await startProxy(server.port);
  });
  afterEach(async () => {
    proxy.decide(() => "deliver");
    for (const store of stores.splice(0)) await store.close();
    await proxy.close();
  });

  function openAt(url: string, timeouts: RedisStoreOptions = TIMEOUTS) {
    const store = redisStore(url, timeouts);
    stores.push(store);
    return createLatchkey({ store });
  }

  /** A key, and its uses on the server, read past the proxy. */
  async function issueKey(remaining: number) {
    const direct = openAt(server.url, PATIENT);
    const { apiId } = await direct.createApi({ name: "payments" });
    const { key, keyId } = await direct.createKey({ apiId, remaining });
    const left = async () => Number((await direct.getKey({ keyId })).remaining);
    return { key, left };
  }

  test("a lost answer gives the outcome unknown, and has taken exactly one use", async () => {
    const { key, left } = await issueKey(1_000);
    const latchkey = openAt(proxy.url);
    for (let before = 1_000; before > 980; ) {
      await untilAnswered(() => latchkey.verifyKey({ key }));
      before = await left();
      proxy.decide(() => "lose");
      expect(await errorOf(latchkey.verifyKey({ key }))).toMatchObject(UNKNOWN);
      proxy.decide(() => "deliver");
      expect(await left()).toBe(before - 1);
    }
  });

  test("with one answer in ten lost, uses taken are those admitted and at most one for each unknown", async () => {
    const GRANTED = 1_000;
    const { key, left } = await issueKey(GRANTED);
    const latchkeys = Array.from({ length: 4 }, () => openAt(proxy.url));
    const admitted: number[] = [];
    let unknown = 0;
    loseOneInTen(1);
    const spend = async (number: number) => {
      const latchkey = latchkeys[number % latchkeys.length] as (typeof latchkeys)[0];
      for (;;) {
        try {
          const verdict = await latchkey.verifyKey({ key });
          if (!verdict.valid) return expect(verdict.code).toBe("USAGE_EXCEEDED");
          admitted.push(verdict.remaining as number);
        } catch (error) {
          if (outcomeOf(error) === "unknown") unknown += 1;
          else await turn();
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, number) => spend(number)));
    expect(await left()).toBe(0);
    expect(new Set(admitted).size).toBe(admitted.length);
    expect(admitted.length).toBeLessThanOrEqual(GRANTED);
    expect(admitted.length + unknown).toBeGreaterThanOrEqual(GRANTED);
    expect(unknown).toBeGreaterThan(20);
  });

  test("with a requestId and retries, every caller gets its verdict and no use is burnt", async () => {
    const GRANTED = 600;
    const CALLERS = 700;
    const { key, left } = await issueKey(GRANTED);
    const latchkeys = Array.from({ length: 4 }, () => openAt(proxy.url));
    let unknown = 0;
    loseOneInTen(2);
    const ask = async (caller: number) => {
      for (let attempt = 0; ; attempt += 1) {
        // Like a load balancer that sends a retry to another process than the first call.
        const latchkey = latchkeys[(caller + attempt) % latchkeys.length] as (typeof latchkeys)[0];
        try {
          return await latchkey.verifyKey({ key, requestId: `caller ${caller}` });
        } catch (error) {
          if (outcomeOf(error) === "unknown") unknown += 1;
          else await turn();
        }
      }
    };
    const verdicts = await inParallel(CALLERS, 8, ask);
    const admitted = verdicts.flatMap((verdict) => (verdict.valid ? [verdict.remaining] : []));
    expect(admitted).toHaveLength(GRANTED);
    expect(new Set(admitted).size).toBe(GRANTED);
    expect(verdicts.filter(({ code }) => code === "USAGE_EXCEEDED")).toHaveLength(
      CALLERS - GRANTED,
    );
    expect(await left()).toBe(0);
    expect(unknown).toBeGreaterThan(20);
  });

  test("with one answer in ten lost, ends are repeated until answered, and uses left, held and taken add up to those granted", async () => {
    const GRANTED = 4_000;
    const { key, left } = await issueKey(GRANTED);
    const latchkeys = Array.from({ length: 4 }, () => openAt(proxy.url));
    let unknown = 0;
    loseOneInTen(3);
    const insist = async <Answer>(call: (latchkey: Latchkey) => Promise<Answer>) => {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await call(latchkeys[attempt % latchkeys.length] as Latchkey);
        } catch (error) {
          if (outcomeOf(error) === "unknown") unknown += 1;
          else await turn();
        }
      }
    };
    const costs = await inParallel(300, 8, async (caller) => {
      const asked = { key, remaining: { cost: 10 }, requestId: `caller ${caller}` };
      const verdict = await insist((latchkey) => latchkey.reserve(asked));
      if (!verdict.valid) throw new Error(verdict.code);
      const end = { reservationId: verdict.reservationId, remaining: { cost: caller % 11 } };
      const { taken } = await insist((latchkey) => latchkey.settle(end));
      expect(await insist((latchkey) => latchkey.settle(end))).toMatchObject({ taken });
      return taken.uses;
    });
    proxy.decide(() => "deliver");
    const spent = costs.reduce((sum, cost) => sum + cost, 0);
    expect(spent).toBe(Array.from({ length: 300 }, (_, n) => n % 11).reduce((a, b) => a + b));
    expect(await left()).toBe(GRANTED - spent);
    expect(unknown).toBeGreaterThan(20);
  });

  test("an answer that comes too late gives the outcome unknown, and is never taken for the next one", async () => {
    const { key, left } = await issueKey(10);
    const { key: other } = await issueKey(5_000);
    const latchkey = openAt(proxy.url);
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key: other });
    proxy.delay(TIMEOUTS.commandTimeoutMs * 2);
    expect(await errorOf(latchkey.verifyKey({ key }))).toMatchObject(UNKNOWN);
    proxy.delay(0);
    const next = await untilAnswered(() => latchkey.verifyKey({ key: other }));
    expect(next).toMatchObject({ valid: true });
    expect(next.valid && next.remaining).toBeGreaterThan(4_000);
    expect(await left()).toBe(8);
  });

  test("on a link that stalls, calls end within their deadline; once it heals the same store goes on", async () => {
    const { key, left } = await issueKey(10);
    const latchkey = openAt(proxy.url);
    await latchkey.verifyKey({ key });
    proxy.stall();
    const errors = Promise.all([1, 2, 3].map(() => errorOf(latchkey.verifyKey({ key }))));
    expect(await isSettledWithin(LATEST_MS, errors)).toBe(true);
    for (const error of await errors) expect(error).toMatchObject(UNKNOWN);
    expect(await left()).toBe(9);

    proxy.heal();
    expect(await untilAnswered(() => latchkey.verifyKey({ key }))).toMatchObject({ valid: true });
    // The calls under way arrived after their callers had given up: that is the meaning of unknown.
    expect(await left()).toBe(5);
  });

  test("on a link that stalls before the first answer, a call ends in time with nothing done", async () => {
    const { key } = await issueKey(10);
    proxy.stall();
    const latchkey = openAt(proxy.url);
    const error = errorOf(latchkey.verifyKey({ key }));
    expect(await isSettledWithin(TIMEOUTS.connectTimeoutMs + LATEST_MS, error)).toBe(true);
    expect(await error).toMatchObject({ outcome: "not-applied" });
    proxy.heal();
    expect(await untilAnswered(() => latchkey.verifyKey({ key }))).toMatchObject({ remaining: 9 });
  });

  test("a change that loses an answer on its way has not been made, or gives the outcome unknown and can be repeated", async () => {
    const { key } = await issueKey(10);
    const latchkey = openAt(proxy.url);
    const direct = openAt(server.url, PATIENT);
    const { keyId } = (await direct.verifyKey({ key })) as { keyId: string };
    const outcomes: unknown[] = [];
    for (let lost = 1; outcomes.at(-1) !== "none"; lost += 1) {
      await direct.updateKey({ keyId, enabled: true });
      await untilAnswered(() => latchkey.verifyKey({ key }));
      let answers = 0;
      proxy.decide(() => {
        answers += 1;
        return answers === lost ? "lose" : "deliver";
      });
      const disable = () => latchkey.updateKey({ keyId, enabled: false });
      const outcome = await disable().then(() => "none", outcomeOf);
      proxy.decide(() => "deliver");
      outcomes.push(outcome);
      if (outcome === "not-applied") {
        expect((await direct.getKey({ keyId })).enabled).toBe(true);
        continue;
      }
      await untilAnswered(disable);
      expect(await direct.verifyKey({ key })).toMatchObject({ valid: false, code: "DISABLED" });
    }
    // Reads come first, the write last.
    expect(outcomes.slice(-2)).toEqual(["unknown", "none"]);
    expect(new Set(outcomes.slice(0, -2))).toEqual(new Set(["not-applied"]));
  });

  function loseOneInTen(seed: number): void {
    const chance = createChance(seed);
    proxy.decide(() => (chance() < 0.1 ? "lose" : "deliver"));
  }
});

function outcomeOf(error: unknown): LatchkeyError["outcome"] {
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
  return (error as LatchkeyError).outcome;
}

/** Lets ioredis reconnect. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

async function inParallel<Answer>(
  count: number,
  width: number,
  call: (number: number) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let started = 0;
  const run = async () => {
    while (started < count) {
      const number = started;
      started += 1;
      answers.push(await call(number));
    }
  };
  await Promise.all(Array.from({ length: width }, run));
  return answers;
}
