import { createLatchkey, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { AddressFailures, MAX_NETWORKS } from "./address-failures.js";
import { networkOf } from "./address-network.js";
import { createDecision } from "./decide.js";
import type { GuardOptions } from "./options.js";
import { bearing, deciding, open, refused, START, type TestRequest } from "./testing/open.js";

const limitByAddress = { limit: 3, duration: "1m" } as const;
const from = (remoteAddress: string | null, key = "no-such-key") => bearing(key, { remoteAddress });

/** A route with `limitByAddress`. `statusOf` returns the status of a decision, 200 for an admission. */
async function limited(options: GuardOptions<TestRequest> = {}) {
  const context = await open();
  const decide = deciding(context, {}, { limitByAddress, ...options });
  const statusOf = async (...args: Parameters<typeof decide>) => {
    const decision = await decide(...args);
    return decision.admitted ? 200 : decision.status;
  };
  return { ...context, decide, statusOf };
}

describe("the requests of an address that end in 401", () => {
  test("count, whatever the reason, until there is no room: then 429 with the time to wait, before the key is looked up", async () => {
    const getKey = vi.fn((request: TestRequest) => (request.tiles === 1 ? null : "no-such-key"));
    const { decide, statusOf } = await limited({ getKey });
    expect(await statusOf(from("192.0.2.7"))).toBe(401);
    expect(await statusOf(from("192.0.2.7"), { tiles: 2 })).toBe(401);
    expect(await statusOf(from("192.0.2.7"))).toBe(401);
    expect(getKey).toHaveBeenCalledTimes(3);
    expect(refused(await decide(from("192.0.2.7")))).toMatchObject({
      code: "ADDRESS_LIMITED",
      status: 429,
      headers: { "Retry-After": "50" },
      verdict: null,
      body: { title: "Too Many Requests", retryAfterMs: 50_000 },
    });
    expect(getKey).toHaveBeenCalledTimes(3);
    expect(await statusOf(from("192.0.2.8"))).toBe(401);
  });

  test("do not affect valid keys from that address as long as there is room", async () => {
    const { issue, statusOf, advance } = await limited();
    const key = await issue();
    for (const status of [401, 401]) expect(await statusOf(from("192.0.2.7"))).toBe(status);
    for (const status of [200, 200]) expect(await statusOf(from("192.0.2.7", key))).toBe(status);
    expect(await statusOf(from("192.0.2.7"))).toBe(401);
    expect(await statusOf(from("192.0.2.7", key))).toBe(429);
    advance(49_999);
    expect(await statusOf(from("192.0.2.7", key))).toBe(429);
    // The next window starts exactly now.
    advance(1);
    expect(await statusOf(from("192.0.2.7", key))).toBe(200);
  });

  test("do not include 403, 429, failures, and requests without an optional key", async () => {
    const { latchkey, issue } = await open();
    const options = { limitByAddress: { limit: 1, duration: 60_000 }, onError: () => undefined };
    const used = await issue({ remaining: 1 });
    await latchkey.verifyKey({ key: used });
    for (const [question, presented, status] of [
      [{ permissions: "tiles.write" }, bearing(await issue()), 403],
      [{}, bearing(used), 429],
      [{ ratelimits: [{ name: "none" }] }, bearing(await issue()), 500],
    ] as const) {
      const decide = deciding({ latchkey }, question, options);
      for (const _ of [1, 2]) expect(refused(await decide(presented)).status).toBe(status);
      expect(refused(await decide(bearing("no-such-key"))).status).toBe(401);
    }
    const optional = deciding({ latchkey }, { optional: true }, options);
    for (const _ of [1, 2, 3]) expect(await optional(bearing())).toMatchObject({ admitted: true });
  });

  test("count even if a hook changes their status", async () => {
    const { statusOf } = await limited({
      onRefusal: ({ code }) => (code === "NOT_FOUND" ? { status: 404 } : {}),
    });
    for (const status of [404, 404, 404, 429])
      expect(await statusOf(from("192.0.2.7"))).toBe(status);
  });

  test("count for the client's address: behind trusted proxies, or as getAddress returns it", async () => {
    const proxied = await limited({ trustProxy: 1 });
    const via = (address: string) => bearing("no-such-key", { forwardedFor: [address] });
    for (const status of [401, 401, 401, 429])
      expect(await proxied.statusOf(via("203.0.113.1"))).toBe(status);
    expect(await proxied.statusOf(via("203.0.113.2"))).toBe(401);
    const found = await limited({ getAddress: async ({ tiles }) => `203.0.113.${tiles}` });
    for (const status of [401, 401, 401, 429]) expect(await found.statusOf(bearing())).toBe(status);
    expect(await found.statusOf(bearing(), { tiles: 2 })).toBe(401);
  });

  test("do not count if the address is unknown", async () => {
    const { statusOf } = await limited();
    for (let times = 0; times < 9; times += 1) expect(await statusOf(from(null))).toBe(401);
  });

  test("count for the /64 network of an IPv6 address, and for the IPv4 address of an IPv4-mapped one", async () => {
    const { statusOf } = await limited();
    for (const [address, status] of [
      ["2001:db8::1", 401],
      ["2001:db8:0:0:ffff::2", 401],
      ["2001:0DB8::3", 401],
      ["2001:db8::4", 429],
      ["2001:db8:0:1::1", 401],
      ["192.0.2.1", 401],
      ["::ffff:192.0.2.1", 401],
      ["::ffff:c000:201", 401],
      ["192.0.2.1", 429],
    ] as const)
      expect([address, await statusOf(from(address))]).toEqual([address, status]);
  });

  test("are counted per guard, for all of its routes together", async () => {
    const { latchkey } = await open();
    const guard = createDecision(latchkey, { limitByAddress });
    for (const [question, status] of [
      [{}, 401],
      [{ permissions: "tiles.read" }, 401],
      [{ cost: 2 }, 401],
      [{}, 429],
    ] as const)
      expect(await guard(question)(bearing("no-such-key"), null)).toMatchObject({ status });
  });
});

describe("concurrent requests of an address", () => {
  /** A store whose answers take a while, like a server's. */
  function waiting(): KeyStore {
    return new Proxy(memoryStore(), {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return name === "read" || name === "charge"
          ? async (...args: unknown[]) => {
              await new Promise((resolve) => setImmediate(resolve));
              return Reflect.apply(method, target, args) as unknown;
            }
          : method.bind(target);
      },
    });
  }

  test("are not tried beyond the number that may fail, and no valid key is refused while there is room", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        async (areGood, limit) => {
          const store = waiting();
          const latchkey = createLatchkey({ store, clock: () => START });
          const { apiId } = await latchkey.createApi({ name: "map tiles" });
          const { key } = await latchkey.createKey({ apiId });
          const decide = createDecision(latchkey, { limitByAddress: { limit, duration: "1m" } })();
          const decisions = await Promise.all(
            areGood.map((isGood) => decide(bearing(isGood ? key : "no-such-key"), null)),
          );
          const bad = areGood.filter((isGood) => !isGood).length;
          const count = (code: string) =>
            decisions.filter((decision) => !decision.admitted && decision.code === code).length;
          expect(count("NOT_FOUND")).toBe(Math.min(bad, limit));
          if (bad < limit) expect(count("ADDRESS_LIMITED")).toBe(0);
          expect(decisions.every(({ admitted }, index) => !admitted || areGood[index])).toBe(true);
          await store.close();
        },
      ),
      { numRuns: 100 },
    );
  });

  test("that are never decided hold up their address only until they time out", async () => {
    vi.useFakeTimers();
    const { latchkey, issue } = await open();
    const key = await issue();
    let isHanging = true;
    const decide = createDecision<null>(latchkey, {
      limitByAddress: { limit: 2, duration: "1h" },
      timeoutMs: 1_000,
      getKey: () => (isHanging ? new Promise(() => undefined) : key),
      onError: () => undefined,
    })();
    const held = [1, 2, 3, 4].map(() => decide(bearing(), null));
    await vi.advanceTimersByTimeAsync(500);
    isHanging = false;
    const later = decide(bearing(), null);
    await vi.advanceTimersByTimeAsync(500);
    for (const decision of await Promise.all(held)) expect(decision).toMatchObject({ status: 503 });
    expect(await later).toMatchObject({ admitted: true });
    vi.useRealTimers();
  });
});

describe("the table of addresses", () => {
  const MINUTE = { limit: 2, duration: 60_000 };

  test("forgets an address without room only after 5,000 others have used up theirs", () => {
    const failures = new AddressFailures(MINUTE);
    const useUp = (network: string) => {
      for (const _ of [1, 2]) failures.count(network, START);
    };
    useUp("guesser");
    for (let index = 0; index < 50_000; index += 1) failures.count(`once ${index}`, START);
    expect(failures.roomOf("guesser", START)).toBe(0);
    for (let index = 0; index < MAX_NETWORKS / 2 - 1; index += 1) useUp(`twice ${index}`);
    for (let index = 0; index < 50_000; index += 1) failures.count(`again ${index}`, START);
    expect(failures.roomOf("guesser", START)).toBe(0);
  });

  test("does not forget an address that keeps trying", () => {
    const failures = new AddressFailures({ ...MINUTE, limit: 1 });
    failures.count("guesser", START);
    for (let index = 0; index < 30_000; index += 1) {
      failures.count(`other ${index}`, START);
      if (index % 4_000 === 0) expect(failures.roomOf("guesser", START)).toBe(0);
    }
    expect(failures.roomOf("other 29999", START)).toBe(0);
    expect(failures.roomOf("other 0", START)).toBe(1);
  });

  test("counts a new address from its first failure on, even if it is full", () => {
    const failures = new AddressFailures({ ...MINUTE, limit: 3 });
    for (let index = 0; index < 10_000; index += 1)
      for (const _ of [1, 2, 3]) failures.count(`used up ${index}`, START);
    for (const room of [2, 1, 0]) {
      failures.count("new", START);
      failures.count("newer", START);
      expect([failures.roomOf("new", START), failures.roomOf("newer", START)]).toEqual([
        room,
        room,
      ]);
    }
  });

  test("is emptied when the next window starts, and not before", () => {
    const failures = new AddressFailures({ limit: 1, duration: 60_000 });
    failures.count("guesser", START);
    const edge = START + failures.msUntilNext(START);
    expect([edge % 60_000, failures.roomOf("guesser", edge - 1)]).toEqual([0, 0]);
    expect(failures.roomOf("guesser", edge)).toBe(1);
  });
});

test("the network of an IPv6 address is its first 64 bits, in any notation", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
      const hex = groups.map((group) => group.toString(16));
      expect(networkOf(hex.join(":"))).toBe(hex.slice(0, 4).join(":"));
    }),
  );
  expect(networkOf("::")).toBe("0:0:0:0");
  expect(networkOf("::1")).toBe("0:0:0:0");
  expect(networkOf("2001:db8::")).toBe("2001:db8:0:0");
  expect(networkOf("2001:db8::1:2:3:4:5")).toBe("2001:db8:0:1");
  expect(networkOf("192.0.2.7")).toBe("192.0.2.7");
});
