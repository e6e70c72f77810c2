import { once } from "node:events";
import { IncomingMessage, type ServerResponse } from "node:http";
import { connect as connectHttp2, constants, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { createLatchkey, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import express, { type Request as ExpressRequest } from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createGuard as createExpressGuard, apiKeyOf as expressKeyOf } from "./express.js";
import { createGuard as createFastifyGuard, apiKeyOf as fastifyKeyOf } from "./fastify.js";
import { createGuard as createHonoGuard } from "./hono.js";
import { createGuard as createNodeGuard } from "./node.js";
import { listenOn } from "./testing/listen.js";
import { MINUTE_MS, open, type TestContext } from "./testing/open.js";

const header = (key: string) => ({ "x-api-key": key });

/** A key with one limit, which is in the headers of admitted requests. */
const limitedKey = ({ issue }: TestContext) =>
  issue({ ratelimit: { limit: 5, duration: MINUTE_MS } });

/** A store on which every charge fails, as if it were out of reach. */
function failing(): KeyStore {
  const store = memoryStore();
  return new Proxy(store, {
    get: (target, name) =>
      name === "charge" || name === "read"
        ? () => Promise.reject(new Error("out of reach"))
        : Reflect.get(target, name),
  });
}

test("Fastify: works without a network, as onRequest, on a decorated request", async () => {
  const context = await open();
  const guard = createFastifyGuard(context.latchkey);
  const app = Fastify();
  app.decorateRequest("apiKey");
  app.get("/tiles", { onRequest: guard({ optional: true }) }, async (request) => [
    fastifyKeyOf(request)?.code ?? null,
  ]);
  app.get("/open", async (request) => [fastifyKeyOf(request)]);
  const key = await limitedKey(context);
  const known = await app.inject({ url: "/tiles", headers: header(key) });
  expect([known.json(), known.headers.ratelimit]).toEqual([["VALID"], '"default";r=4;t=50']);
  expect((await app.inject({ url: "/tiles" })).json()).toEqual([null]);
  expect((await app.inject({ url: "/open", headers: header(key) })).json()).toEqual([null]);
  const twice = await app.inject({ url: "/tiles", headers: { "x-api-key": [key, key] as never } });
  expect(twice.statusCode).toBe(401);
});

test("Fastify: errors go to the log of the request, unless there is an onError", async () => {
  const written: string[] = [];
  const app = Fastify({ logger: { stream: { write: (line: string) => written.push(line) } } });
  const question = { cost: () => Number.NaN };
  const { latchkey, issue } = await open();
  const headers = header(await issue());
  const onError = vi.fn();
  app.get("/a", { preHandler: createFastifyGuard(latchkey)(question) }, async () => "");
  app.get(
    "/b",
    { preHandler: createFastifyGuard(latchkey, { onError })(question) },
    async () => "",
  );
  expect((await app.inject({ url: "/a", headers })).statusCode).toBe(500);
  const errors = () => written.filter((line) => line.includes('\\"cost\\" must be'));
  expect(errors()).toHaveLength(1);
  expect(errors()[0]).not.toContain(headers["x-api-key"]);
  expect((await app.inject({ url: "/b", headers })).statusCode).toBe(500);
  expect([errors().length, onError.mock.calls.length]).toEqual([1, 1]);
});

test("Hono: works without a network, and adds the limits to a response with immutable headers", async () => {
  const context = await open();
  const guard = createHonoGuard(context.latchkey);
  const app = new Hono();
  app.get("/away", guard(), () => Response.redirect("https://tiles.example/", 303));
  app.get("/broken", guard(), () => {
    throw new Error("no tiles");
  });
  app.onError((_error, c) => c.text("broken", 500));
  app.use("/nowhere", guard());
  const headers = header(await limitedKey(context));
  for (const [path, status] of [
    ["/away", 303],
    ["/broken", 500],
    ["/nowhere", 404],
  ] as const) {
    const response = await app.request(path, { headers });
    expect([path, response.status, response.headers.has("ratelimit")]).toEqual([
      path,
      status,
      true,
    ]);
    expect((await app.request(path)).status).toBe(401);
  }
});

test("Express: guards a router, and one guard after another charges for each", async () => {
  const { latchkey, issue } = await open();
  const guard = createExpressGuard(latchkey, { getKey: (req) => req.get("x-tiles-key") });
  const app = express();
  const seen = (req: ExpressRequest) => expressKeyOf(req)?.remaining ?? null;
  app.get("/open", (req, res) => void res.json(seen(req)));
  app.use(
    "/tiles",
    guard(),
    express.Router().get("/:zoom", guard({ cost: 2 }), (req, res) => {
      res.json(seen(req));
    }),
  );
  const origin = `http://127.0.0.1:${await listenOn(app)}`;
  const headers = { "x-tiles-key": await issue({ remaining: 9 }) };
  expect(await (await fetch(`${origin}/open`, { headers })).json()).toBeNull();
  expect(await (await fetch(`${origin}/tiles/7`, { headers })).json()).toBe(6);
  expect((await fetch(`${origin}/tiles/7`)).status).toBe(401);
});

test("Express: an error of a handler behind a guard goes to Express", async () => {
  const { latchkey, issue } = await open();
  const app = express();
  app.get("/tiles", createExpressGuard(latchkey)(), () => {
    throw new Error("no tiles");
  });
  app.use(((error, _req, res, _next) => {
    res.status(418).send(String(error));
  }) satisfies express.ErrorRequestHandler);
  const origin = `http://127.0.0.1:${await listenOn(app)}`;
  const response = await fetch(`${origin}/tiles`, { headers: header(await issue()) });
  expect([response.status, await response.text()]).toEqual([418, "Error: no tiles"]);
});

describe("node:http: a handler that throws or rejects", () => {
  const broken = new Error("no tiles, secret of the host");

  test.each<[string, (response: ServerResponse) => unknown]>([
    [
      "throws",
      () => {
        throw broken;
      },
    ],
    ["rejects", () => Promise.reject(broken)],
    [
      "throws after it has set headers",
      (response) => {
        response.setHeader("Content-Length", "5").setHeader("X-Tiles", "7");
        throw broken;
      },
    ],
  ])("gets 500 and is reported: one that %s", async (_, handler) => {
    const { latchkey, issue } = await open();
    const onError = vi.fn();
    const guard = createNodeGuard(latchkey, { onError, onRefusal: () => ({ status: 502 }) });
    const origin = `http://127.0.0.1:${await listenOn(guard({}, (_req, res) => handler(res)))}`;
    const response = await fetch(origin, { headers: header(await issue()) });
    expect([response.status, await response.json()]).toEqual([
      502,
      {
        title: "Internal Server Error",
        status: 500,
        detail: "something went wrong",
        code: "INTERNAL_SERVER_ERROR",
      },
    ]);
    expect(onError.mock.calls).toEqual([[broken, expect.any(IncomingMessage)]]);
  });

  test("cannot take back what was sent: a partial response is aborted, a complete one stays", async () => {
    const { latchkey, issue } = await open();
    const guard = createNodeGuard(latchkey, { onError: () => undefined });
    const listener = guard({}, (req, res) => {
      res.write("half");
      if (req.url === "/whole") res.end();
      throw broken;
    });
    const origin = `http://127.0.0.1:${await listenOn(listener)}`;
    const headers = header(await issue());
    expect(await (await fetch(`${origin}/whole`, { headers })).text()).toBe("half");
    const half = fetch(`${origin}/half`, { headers }).then((response) => response.text());
    await expect(half).rejects.toThrow();
  });

  test("over HTTP/2, aborts a partial response with an error, so that it does not look complete", async () => {
    const { latchkey, issue } = await open();
    const guard = createNodeGuard(latchkey, { onError: () => undefined });
    const listener = guard({}, (_req, res) => {
      res.write("half");
      throw broken;
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
    const stream = session.request({ ":path": "/", ...header(await issue()) }).resume();
    await expect(once(stream, "end")).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
    expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });
});

test("a third-party store that fails with an error that is not latchkey's is a 500, and nobody gets in", async () => {
  const onError = vi.fn();
  const latchkey = createLatchkey({ store: failing() });
  const app = new Hono();
  app.get("/tiles", createHonoGuard(latchkey, { onError })(), (c) => c.text("in"));
  const response = await app.request("/tiles", { headers: header("tile_key") });
  expect([response.status, await response.text()]).toEqual([
    500,
    expect.not.stringContaining("out of reach"),
  ]);
  expect(onError).toHaveBeenCalledOnce();
});
