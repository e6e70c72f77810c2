import { type ClientRequest, get, type IncomingMessage } from "node:http";
import type { Latchkey } from "@latchkey/core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { describeOnEveryStore } from "./testing/every-store.js";
import { type Answered, HELD_SERVERS, type HeldRoute } from "./testing/held-servers.js";
import { MINUTE_MS, open, type TestContext } from "./testing/open.js";

/** Settings of a key with `limit` slots. */
const parallel = (limit: number, duration = MINUTE_MS) => ({
  ratelimits: [
    { name: "parallel", limit, duration, algorithm: "concurrent" as const, autoApply: true },
  ],
});

const visit = (port: number, key: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}/`, { ...init, headers: { "X-API-Key": key } });

/** Two texts. The second is sent when the test calls `finish`. */
function stream() {
  let send: () => void = () => undefined;
  const last = new Promise<void>((resolve) => {
    send = resolve;
  });
  onTestFinished(() => send());
  async function* texts() {
    yield "first,";
    await last;
    yield "last";
  }
  return { texts, finish: () => send() };
}

async function* twoTexts() {
  yield "first,";
  yield "last";
}

/** Begins to read a response. `leave` disconnects in the middle of it. */
function readSome(port: number, key: string): Promise<{ leave(): void; rest(): Promise<string> }> {
  return new Promise((resolve, reject) => {
    const request: ClientRequest = get({ port, host: "127.0.0.1", headers: { "X-API-Key": key } });
    request.on("error", reject);
    request.on("response", (response: IncomingMessage) => {
      let text = "";
      response.setEncoding("utf8").on("error", () => undefined);
      const ended = new Promise<string>((end) => response.on("close", () => end(text)));
      response.on("data", (chunk) => {
        text += chunk;
        resolve({ leave: () => request.destroy(), rest: () => ended });
      });
    });
  });
}

const keyIdOf = async ({ latchkey }: TestContext, key: string) =>
  (await latchkey.whoami({ key })).id;

/** Number of open reservations of a key. */
async function openOf(context: TestContext, key: string): Promise<number> {
  const { reservations } = await context.latchkey.listReservations({
    keyId: await keyIdOf(context, key),
  });
  return reservations.length;
}

const untilFree = (context: TestContext, key: string) =>
  expect.poll(() => openOf(context, key)).toBe(0);

async function remainingOf(context: TestContext, key: string): Promise<number | null | undefined> {
  return (await context.latchkey.getKey({ keyId: await keyIdOf(context, key) })).remaining;
}

describe.each(Object.entries(HELD_SERVERS))("slots of a route of %s", (name, serve) => {
  const serving = async (handle: HeldRoute["handle"], options?: HeldRoute["options"]) => {
    const context = await open();
    const key = await context.issue(parallel(1));
    const { latchkey } = context;
    const port = await serve({ latchkey, question: {}, handle, ...(options && { options }) });
    return { context, key, port };
  };

  test("are taken until the response has ended, then free: a second request gets 429", async () => {
    const { texts, finish } = stream();
    const { context, key, port } = await serving(() => texts());
    const first = await readSome(port, key);
    const refused = await visit(port, key);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("ratelimit-policy")).toBe('"parallel";q=1;qu="concurrent-requests"');
    expect(refused.headers.get("ratelimit")).toBe('"parallel";r=0');
    finish();
    expect(await first.rest()).toBe("first,last");
    await untilFree(context, key);
    const again = await visit(port, key);
    expect([again.status, await again.text()]).toEqual([200, "first,last"]);
    await untilFree(context, key);
  });

  test("are free when the client disconnects in the middle of the response", async () => {
    const { texts } = stream();
    const { context, key, port } = await serving(() => texts());
    const first = await readSome(port, key);
    expect(await openOf(context, key)).toBe(1);
    first.leave();
    await untilFree(context, key);
  });

  test("are free when the client disconnects before the response", async () => {
    let entered: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    let answer: (text: string) => void = () => undefined;
    const { context, key, port } = await serving(() => {
      entered();
      return new Promise<string>((resolve) => {
        answer = resolve;
      });
    });
    const request = get({ port, host: "127.0.0.1", headers: { "X-API-Key": key } });
    request.on("error", () => undefined);
    await inside;
    expect(await openOf(context, key)).toBe(1);
    request.destroy();
    await untilFree(context, key);
    answer("nobody reads this");
  });

  test.each<[string, () => Answered | Promise<Answered>, RequestInit]>([
    ["a text", () => "in", {}],
    ["no body", () => null, {}],
    ["HEAD of a text", () => "in", { method: "HEAD" }],
    ["HEAD of a stream", () => twoTexts(), { method: "HEAD" }],
    [
      "an error in the handler",
      () => {
        throw new Error("no tiles");
      },
      {},
    ],
    ["an error later in the handler", () => Promise.reject(new Error("no tiles")), {}],
  ])("are free after %s", async (_, handle, init) => {
    const onError = () => undefined;
    const { context, key, port } = await serving(handle, { onError });
    await visit(port, key, init).then((response) => response.text());
    await untilFree(context, key);
    expect((await visit(port, key, init)).status).not.toBe(429);
  });

  test("are free after a stream that breaks in the middle", async () => {
    async function* broken() {
      yield "first,";
      throw new Error("no more tiles");
    }
    const print = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => print.mockRestore());
    const { context, key, port } = await serving(() => broken(), { onError: () => undefined });
    await visit(port, key)
      .then((response) => response.text())
      .catch(() => undefined);
    await untilFree(context, key);
  });

  test("are renewed while the response is open: a stream holds one slot for as long as it takes", async () => {
    const context = await open();
    const [durationMs, rounds] = [60, 6];
    const key = await context.issue(parallel(1, durationMs));
    const { texts, finish } = stream();
    let renewed = 0;
    // Between two renewals, nearly the whole duration passes by latchkey's clock.
    const renew: Latchkey["renew"] = async (...input) => {
      const answer = await context.latchkey.renew(...input);
      renewed += 1;
      if (renewed <= rounds) context.advance(durationMs - 1);
      return answer;
    };
    const onError = vi.fn();
    const port = await serve({
      latchkey: { ...context.latchkey, renew },
      question: {},
      options: { onError },
      handle: () => texts(),
    });
    const first = await readSome(port, key);
    await expect.poll(() => renewed).toBeGreaterThan(rounds);
    expect(await openOf(context, key)).toBe(1);
    expect((await context.latchkey.verifyKey({ key })).code).toBe("RATE_LIMITED");
    finish();
    await first.rest();
    await untilFree(context, key);
    expect(onError).not.toHaveBeenCalled();
  });

  // The slots are counted by the same code behind every entry, so one of them gets more requests.
  const requests = name === "node:http" ? 100 : 20;
  test(`are never exceeded by ${requests} concurrent requests, and all are free afterwards`, async () => {
    const context = await open();
    const key = await context.issue(parallel(5));
    let [inside, most] = [0, 0];
    let letOut: () => void = () => undefined;
    const out = new Promise<void>((resolve) => {
      letOut = resolve;
    });
    const port = await serve({
      latchkey: context.latchkey,
      question: {},
      handle: async () => {
        inside += 1;
        most = Math.max(most, inside);
        await out;
        inside -= 1;
        return "in";
      },
    });
    const statuses: number[] = [];
    const visitAll = () =>
      Promise.all(
        Array.from({ length: requests }, async () => {
          const response = await visit(port, key);
          await response.text();
          statuses.push(response.status);
          if (statuses.length === requests - 5) letOut();
        }),
      );
    await visitAll();
    expect(statuses.slice(0, requests - 5).every((status) => status === 429)).toBe(true);
    expect(statuses.slice(requests - 5)).toEqual([200, 200, 200, 200, 200]);
    await untilFree(context, key);
    // Now each request ends as soon as it can, and others take its slot.
    await visitAll();
    expect(most).toBe(5);
    await untilFree(context, key);
    const { ratelimits } = (await context.latchkey.verifyKey({
      key,
      ratelimits: [{ name: "parallel", cost: 0 }],
    })) as {
      readonly ratelimits?: readonly { readonly remaining: number }[];
    };
    expect(ratelimits?.[0]?.remaining).toBe(5);
  });
});

describe.each(Object.entries(HELD_SERVERS))("a reservation of a route of %s", (_name, serve) => {
  const reserving = async (
    handle: HeldRoute["handle"],
    question: HeldRoute["question"] = { reserve: 40 },
  ) => {
    const context = await open();
    const key = await context.issue({ remaining: 100 });
    const onError = vi.fn();
    const { latchkey } = context;
    const port = await serve({ latchkey, question, options: { onError }, handle });
    return { context, key, port, onError };
  };

  test("is settled with the cost that the handler states", async () => {
    const seen: unknown[] = [];
    const { context, key, port, onError } = await reserving(async (apiKey) => {
      seen.push(apiKey.remaining, await remainingOf(context, key));
      seen.push(await apiKey.settle({ cost: 7 }));
      return "in";
    });
    expect(await (await visit(port, key)).text()).toBe("in");
    await untilFree(context, key);
    expect(await remainingOf(context, key)).toBe(93);
    expect(seen).toEqual([60, 60, { remaining: 93, taken: { uses: 7, ratelimits: [] } }]);
    expect(onError).not.toHaveBeenCalled();
  });

  test("costs nothing if the handler releases it, and everything if the handler does nothing", async () => {
    const { context, key, port, onError } = await reserving(async (apiKey) => {
      if ((await remainingOf(context, key)) === 60) await apiKey.release();
      return "in";
    });
    await (await visit(port, key)).text();
    await untilFree(context, key);
    expect(await remainingOf(context, key)).toBe(100);
    await context.latchkey.updateRemaining({
      keyId: await keyIdOf(context, key),
      op: "decrement",
      value: 10,
    });
    await (await visit(port, key)).text();
    await untilFree(context, key);
    expect(await remainingOf(context, key)).toBe(50);
    expect(onError).not.toHaveBeenCalled();
  });

  test('costs nothing if the handler does nothing and onClose is "release"', async () => {
    const question = { reserve: { cost: () => 40, ttl: "1m" }, onClose: "release" } as const;
    const { context, key, port } = await reserving(() => "in", question);
    await (await visit(port, key)).text();
    await untilFree(context, key);
    expect(await remainingOf(context, key)).toBe(100);
  });

  test("is settled once if the client disconnects in the middle: by the handler, which notices that", async () => {
    const settled: unknown[] = [];
    const { context, key, port, onError } = await reserving((apiKey) => ({
      [Symbol.asyncIterator]: () => {
        let isFirst = true;
        return {
          next: async () => {
            if (!isFirst) await new Promise(() => undefined);
            isFirst = false;
            return { value: "first,", done: false };
          },
          return: async () => {
            settled.push(await apiKey.settle({ cost: 3 }));
            return { value: undefined, done: true };
          },
        };
      },
    }));
    const first = await readSome(port, key);
    expect(await remainingOf(context, key)).toBe(60);
    first.leave();
    await untilFree(context, key);
    expect(await remainingOf(context, key)).toBe(97);
    await expect.poll(() => settled).toEqual([expect.objectContaining({ remaining: 97 })]);
    expect(onError).not.toHaveBeenCalled();
  });

  test("can be settled right after the end of the response", async () => {
    const { context, key, port, onError } = await reserving((apiKey) => {
      async function* metered() {
        try {
          yield "first,";
          yield "last";
        } finally {
          void apiKey.settle({ cost: 3 });
        }
      }
      return metered();
    });
    expect(await (await visit(port, key)).text()).toBe("first,last");
    await untilFree(context, key);
    expect(await remainingOf(context, key)).toBe(97);
    expect(onError).not.toHaveBeenCalled();
  });

  test("costs everything if the handler fails, and nothing with onClose: release", async () => {
    const failing = () => {
      throw new Error("no tiles");
    };
    const all = await reserving(failing);
    await (await visit(all.port, all.key)).text();
    await untilFree(all.context, all.key);
    expect(await remainingOf(all.context, all.key)).toBe(60);
    const none = await reserving(failing, { reserve: 40, onClose: "release" });
    await (await visit(none.port, none.key)).text();
    await untilFree(none.context, none.key);
    expect(await remainingOf(none.context, none.key)).toBe(100);
  });
});

describeOnEveryStore("a route that reserves and takes slots", (openStore) => {
  test("admits five of 40 concurrent requests at a time, charges each its cost, and leaves nothing held", async () => {
    const context = await open(openStore());
    const key = await context.issue({ remaining: 1_000, ...parallel(5) });
    let letOut: () => void = () => undefined;
    const out = new Promise<void>((resolve) => {
      letOut = resolve;
    });
    const onError = vi.fn();
    const serve = HELD_SERVERS["node:http"] as (route: HeldRoute) => Promise<number>;
    const port = await serve({
      latchkey: context.latchkey,
      question: { reserve: 100 },
      options: { onError, timeoutMs: "1m" },
      handle: async (apiKey) => {
        await out;
        await apiKey.settle({ cost: 7 });
        return "in";
      },
    });
    const statuses: number[] = [];
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const response = await visit(port, key);
        await response.text();
        statuses.push(response.status);
        if (statuses.length === 35) letOut();
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    await untilFree(context, key);
    expect(await remainingOf(context, key)).toBe(965);
    expect(onError).not.toHaveBeenCalled();
  });
});
