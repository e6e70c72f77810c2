import { createLatchkey, interceptStore, type Latchkey, LatchkeyError } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { beforeEach, describe, expect, test } from "vitest";
import { type LeakHandlerOptions, toNodeListener } from "../index.js";
import { found, leakHandler, post, reply } from "../testing/leak-reports.js";
import { listen } from "../testing/listen.js";

const MB = 1_048_576;

let latchkey: Latchkey;
let apiId: string;
let errors: unknown[];

beforeEach(async () => {
  latchkey = createLatchkey({ store: memoryStore() });
  ({ apiId } = await latchkey.createApi({ name: "tides" }));
  errors = [];
});

const handlerWith = (options: Partial<LeakHandlerOptions> = {}, on = latchkey) =>
  leakHandler(on, errors, options);

describe("a large report", () => {
  const many = (count: number) =>
    JSON.stringify(Array.from({ length: count }, (_, at) => found(`none_${at}`)));

  test("of 10,000 tokens is handled, and of one more is a 413", async () => {
    const { key } = await latchkey.createKey({ apiId });
    const tokens = [...Array.from({ length: 9_999 }, (_, at) => found(`none_${at}`)), found(key)];
    const { status, body } = await reply(handlerWith()(post(JSON.stringify(tokens))));
    expect([status, body.length, body.at(-1).label]).toEqual([200, 10_000, "true_positive"]);
    expect((await handlerWith()(post(many(10_001)))).status).toBe(413);
  });

  test("of 8 MiB is read, and of one byte more is a 413", async () => {
    const empty = JSON.stringify([found("")]).length;
    const body = (size: number) => JSON.stringify([found("x".repeat(size - empty))]);
    expect((await handlerWith()(post(body(8 * MB)))).status).toBe(200);
    expect((await handlerWith()(post(body(8 * MB + 1)))).status).toBe(413);
  });

  test("that has no end is refused before it is read to the end", async () => {
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += MB;
        controller.enqueue(new Uint8Array(MB));
      },
    });
    const { headers } = post("[]");
    const request = new Request("http://keys.test/", {
      method: "POST",
      headers,
      body,
      duplex: "half",
    } as RequestInit);
    expect((await handlerWith()(request)).status).toBe(413);
    expect(sent).toBeLessThan(16 * MB);
  });
});

describe("a store that fails in the middle", () => {
  test("is a 503, and the repeat continues", async () => {
    const store = memoryStore();
    const own = createLatchkey({ store });
    const api = await own.createApi({ name: "tides" });
    const keys = await Promise.all([1, 2, 3].map(() => own.createKey({ apiId: api.apiId })));
    let left = 1;
    const failing = interceptStore(store, ({ method }, run) => {
      if (method === "commit") left -= 1;
      if (method === "commit" && left < 0)
        return Promise.reject(new LatchkeyError("STORE_UNAVAILABLE", "no disk"));
      return run();
    });
    const body = JSON.stringify(keys.map(({ key }) => found(key)));
    const handler = handlerWith({}, createLatchkey({ store: failing }));
    const first = await handler(post(body));
    expect([first.status, first.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(errors).toHaveLength(1);
    left = 100;
    const { status, body: labels } = await reply(handler(post(body)));
    expect([status, labels.map(({ label }: { label: string }) => label)]).toEqual([
      200,
      Array(3).fill("true_positive"),
    ]);
    for (const { key, keyId } of keys) {
      expect(await own.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
      const { events } = await own.listAuditEvents({ keyId });
      expect(events.filter(({ type }) => type === "key.leaked")).toHaveLength(1);
    }
  });
});

test("node:http serves it, refuses bodies that are too large, and reads the bytes unchanged", async () => {
  const { key } = await latchkey.createKey({ apiId });
  const { origin: url } = await listen(toNodeListener(handlerWith()));
  const send = (body: string) => {
    const request = post(body);
    return fetch(url, { method: "POST", headers: request.headers, body });
  };
  const spaced = ` [ ${JSON.stringify(found(key, { source: "é" }))}\n]`;
  const { status, body } = await reply(send(spaced));
  expect([status, body[0].label]).toEqual([200, "true_positive"]);
  expect((await send("x".repeat(8 * MB + 1))).status).toBe(413);
  expect((await fetch(url)).status).toBe(405);
});
