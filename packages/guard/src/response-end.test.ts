import { once } from "node:events";
import { createServer, type RequestListener, request, ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import Fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createGuard as createFastifyGuard } from "./fastify.js";
import { createGuard as createFetchGuard } from "./fetch.js";
import { createGuard as createHonoGuard } from "./hono.js";
import { createGuard as createNodeGuard } from "./node.js";
import { listenOn } from "./testing/listen.js";
import { open } from "./testing/open.js";

const SLOT = { name: "parallel", limit: 3, duration: "1h", algorithm: "concurrent" } as const;

/** A key with three slots, and the number of them that are taken. */
async function slots() {
  const context = await open();
  const key = await context.issue({ ratelimits: [{ ...SLOT, autoApply: true }] });
  const { latchkey } = context;
  const { id: keyId } = await latchkey.whoami({ key });
  const taken = async () => (await latchkey.listReservations({ keyId })).reservations.length;
  return {
    latchkey,
    key,
    taken,
    untilTaken: (count: number) => expect.poll(taken).toBe(count),
  };
}

/** A raw connection to write requests to. */
async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

const asking = (key: string) => `GET / HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;

describe("over Node", () => {
  test("a connection with many requests gets no more listeners, and no warning", async () => {
    const { latchkey, key, untilTaken } = await slots();
    const warn = vi.fn();
    process.on("warning", warn);
    onTestFinished(() => void process.off("warning", warn));
    const counts: number[] = [];
    const guard = createNodeGuard(latchkey);
    const port = await listenOn(
      guard({}, (req, res) => {
        counts.push(req.socket.listenerCount("close"));
        res.end("in");
      }),
    );
    const socket = await connected(port);
    for (let visit = 0; visit < 30; visit += 1) {
      socket.write(asking(key));
      await once(socket, "data");
      await untilTaken(0);
    }
    expect(counts).toHaveLength(30);
    expect(new Set(counts).size).toBe(1);
    expect(warn).not.toHaveBeenCalled();
  });

  test("the slots of pipelined requests are free when their connection breaks", async () => {
    const { latchkey, key, untilTaken } = await slots();
    const guard = createNodeGuard(latchkey);
    const port = await listenOn(guard({}, () => undefined));
    const socket = await connected(port);
    socket.write(asking(key) + asking(key) + asking(key));
    await untilTaken(3);
    socket.destroy();
    await untilTaken(0);
  });

  test("a slot is free if the client disconnected before the decision", async () => {
    const { latchkey, key, untilTaken } = await slots();
    let decided: () => void = () => undefined;
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const cost = () =>
      new Promise<number>((resolve) => {
        decided = () => resolve(1);
        asked();
      });
    const handler = vi.fn();
    const guard = createNodeGuard(latchkey)({ cost }, handler);
    let gone: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const port = await listenOn((req, res) => {
      res.on("close", gone);
      void guard(req, res);
    });
    const socket = await connected(port);
    socket.write(asking(key));
    await isAsked;
    socket.destroy();
    await closed;
    decided();
    await expect.poll(() => handler.mock.calls.length).toBe(1);
    await untilTaken(0);
  });

  test("if the host has already responded, the reservation is released", async () => {
    const context = await open();
    const key = await context.issue({ remaining: 10 });
    const guard = createNodeGuard(context.latchkey)({ reserve: 4 }, () => undefined);
    const port = await listenOn(async (req, res) => {
      const guarded = guard(req, res);
      res.end("the host");
      await guarded;
    });
    await fetch(`http://127.0.0.1:${port}/`, { headers: { "X-API-Key": key } });
    const { id: keyId } = await context.latchkey.whoami({ key });
    await expect.poll(async () => (await context.latchkey.getKey({ keyId })).remaining).toBe(10);
  });

  test("a hijacked response holds its slot until its connection is closed", async () => {
    const { latchkey, key, taken, untilTaken } = await slots();
    const app = Fastify();
    onTestFinished(() => app.close());
    app.get("/", { preHandler: createFastifyGuard(latchkey)() }, (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200);
      reply.raw.write("first,");
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    const socket = await connected((app.server.address() as AddressInfo).port);
    socket.write(asking(key));
    await once(socket, "data");
    expect(await taken()).toBe(1);
    socket.destroy();
    await untilTaken(0);
  });

  test("an injected request frees its slot", async () => {
    const { latchkey, key, taken, untilTaken } = await slots();
    const app = Fastify();
    onTestFinished(() => app.close());
    app.get("/", { preHandler: createFastifyGuard(latchkey)() }, async () => ({
      taken: await taken(),
    }));
    const { body } = await app.inject({ url: "/", headers: { "x-api-key": key } });
    expect(JSON.parse(body)).toEqual({ taken: 1 });
    await untilTaken(0);
  });

  test("an upgraded connection holds its slot until it is closed", async () => {
    const { latchkey, key, taken, untilTaken } = await slots();
    const guard = createNodeGuard(latchkey)({}, (req) => {
      req.socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tiles\r\n\r\n",
      );
      req.socket.resume().on("end", () => req.socket.destroy());
    });
    const server = createServer();
    // As libraries do that pass an upgrade to an app: with a response that is never sent.
    server.on("upgrade", (req) => void guard(req, new ServerResponse(req)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const upgrade = request({
      port: (server.address() as AddressInfo).port,
      headers: { "X-API-Key": key, Connection: "Upgrade", Upgrade: "tiles" },
    });
    upgrade.end();
    const [, socket] = (await once(upgrade, "upgrade")) as [unknown, Socket];
    expect(await taken()).toBe(1);
    socket.destroy();
    await untilTaken(0);
  });

  test("over HTTP/2 each stream holds its own slot", async () => {
    const { latchkey, key, untilTaken } = await slots();
    const listener = createNodeGuard(latchkey)({}, (req, res) => {
      res.writeHead(200);
      if (req.url === "/short") res.end("in");
      else res.write("first,");
    });
    const server = createHttp2Server(
      listener as unknown as Parameters<typeof createHttp2Server>[1],
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      session.destroy();
      server.close();
    });
    const ask = (path: string) => session.request({ ":path": path, "x-api-key": key });
    const [long, other] = [ask("/long"), ask("/other")];
    await Promise.all([once(long, "data"), once(other, "data")]);
    await untilTaken(2);
    const short = ask("/short").resume();
    await once(short, "end");
    await untilTaken(2);
    long.close();
    await untilTaken(1);
    session.destroy();
    await untilTaken(0);
  });

  test("a stand-in for a response that does not report its end counts as ended at once", async () => {
    const { latchkey, key, untilTaken } = await slots();
    const guard = createNodeGuard(latchkey)({}, () => undefined);
    const stub = { writableEnded: false, headersSent: true, setHeader: () => undefined };
    const presented = { rawHeaders: ["X-API-Key", key], socket: {} };
    const call = guard as unknown as (...stubs: readonly unknown[]) => Promise<void>;
    await call(presented, stub);
    await untilTaken(0);
  });
});

describe("a fetch handler", () => {
  const asked = (key: string, init: RequestInit = {}) =>
    new Request("http://localhost/", { ...init, headers: { "X-API-Key": key } });

  const endless = (cancel?: (reason: unknown) => void) =>
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      ...(cancel && { cancel }),
      pull: (controller) => controller.enqueue(new Uint8Array([1])),
    });

  test("holds its slot until the body was read to its end, and passes on the whole response", async () => {
    const { latchkey, key, taken, untilTaken } = await slots();
    const headers = new Headers([
      ["Set-Cookie", "a=1"],
      ["Set-Cookie", "b=2"],
    ]);
    const GET = createFetchGuard(latchkey)(
      {},
      () => new Response("tiles", { status: 203, statusText: "Some", headers }),
    );
    const response = await GET(asked(key));
    expect(await taken()).toBe(1);
    expect([response.status, response.statusText]).toEqual([203, "Some"]);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("content-type")).toBe("text/plain;charset=UTF-8");
    expect(response.headers.get("ratelimit")).toBe('"parallel";r=2');
    expect(await response.text()).toBe("tiles");
    await untilTaken(0);
  });

  test("frees its slot when the body is cancelled or the client disconnects, and leaves no listener", async () => {
    const { latchkey, key, taken, untilTaken } = await slots();
    const cancelled = vi.fn();
    const GET = createFetchGuard(latchkey)({}, () => new Response(endless(cancelled)));
    const controller = new AbortController();
    const added = vi.spyOn(controller.signal, "addEventListener");
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    const withSignal = () => {
      const one = asked(key);
      Object.defineProperty(one, "signal", { value: controller.signal });
      return one;
    };
    const first = await GET(withSignal());
    expect(await taken()).toBe(1);
    await first.body?.cancel("enough");
    await untilTaken(0);
    expect(cancelled).toHaveBeenCalledExactlyOnceWith("enough");
    const second = await GET(withSignal());
    expect(await taken()).toBe(1);
    controller.abort();
    await untilTaken(0);
    await second.body?.cancel();
    expect(removed.mock.calls.length).toBeGreaterThanOrEqual(added.mock.calls.length);
    await (await GET(withSignal())).body?.cancel();
    await untilTaken(0);
  });

  test.each<[string, () => Response | Promise<Response>]>([
    ["no body", () => new Response(null, { status: 204 })],
    [
      "a body that is locked",
      () => {
        const response = new Response("tiles");
        void response.text();
        return response;
      },
    ],
    ["an error", () => Promise.reject(new Error("no tiles"))],
    ["no response", () => undefined as never],
  ])("frees its slot at once after %s", async (_, handler) => {
    const { latchkey, key, untilTaken } = await slots();
    const GET = createFetchGuard(latchkey)({}, handler);
    await GET(asked(key)).catch(() => undefined);
    await untilTaken(0);
  });

  test("frees its slot when a response that the host has dropped is garbage-collected", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const { latchkey, key, taken } = await slots();
    const GET = createFetchGuard(latchkey)({}, () => new Response(endless()));
    await GET(asked(key));
    expect(await taken()).toBe(1);
    await expect
      .poll(() => {
        collect();
        return taken();
      })
      .toBe(0);
  });

  test("pulls bytes of the body only when they are read", async () => {
    const { latchkey, key } = await slots();
    const pull = vi.fn((controller: ReadableStreamDefaultController) =>
      controller.enqueue(new Uint8Array(1)),
    );
    const GET = createFetchGuard(latchkey)(
      {},
      () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 })),
    );
    const { body } = await GET(asked(key));
    await new Promise((resolve) => setTimeout(resolve));
    expect(pull).not.toHaveBeenCalled();
    await body?.cancel();
  });
});

describe("Hono", () => {
  test("frees the slot of a HEAD request, whose body it drops, and of a body that was read", async () => {
    const { latchkey, key, taken, untilTaken } = await slots();
    const app = new Hono();
    app.get("/", createHonoGuard(latchkey)(), (c) => c.text("in"));
    const headers = { "X-API-Key": key };
    expect((await app.request("/", { method: "HEAD", headers })).status).toBe(200);
    await untilTaken(0);
    const response = await app.request("/", { headers });
    expect(await taken()).toBe(1);
    expect(response.headers.get("ratelimit")).toBe('"parallel";r=2');
    expect(await response.text()).toBe("in");
    await untilTaken(0);
  });

  test("holds the slot of an upgrade, which has only a connection, until that is closed", async () => {
    const { latchkey, key, untilTaken } = await slots();
    const app = new Hono();
    app.get("/", createHonoGuard(latchkey)(), (c) => c.body(null, 204));
    const listener: RequestListener = async (incoming, res) => {
      const init = { headers: { "X-API-Key": key } };
      await app.request("/", init, { incoming, outgoing: undefined });
      res.write("upgraded");
    };
    const socket = await connected(await listenOn(listener));
    socket.write(asking(key));
    await once(socket, "data");
    await untilTaken(1);
    socket.destroy();
    await untilTaken(0);
  });
});
