// @ts-nocheck: it simulates hosts that no compiler would accept.
// Serves guarded routes of every entry in hosts that misbehave in many ways, visits each, and prints the result as one line of JSON. It has
// no listener for unhandled rejections and uncaught exceptions, so any of them ends the process.

import { createServer } from "node:http";
import { connect } from "node:net";
import { serve } from "@hono/node-server";
import { createLatchkey } from "@latchkey/core";
import { createGuard as createElysiaGuard } from "@latchkey/guard/elysia";
import { createGuard as createExpressGuard } from "@latchkey/guard/express";
import { createGuard as createFastifyGuard } from "@latchkey/guard/fastify";
import { createGuard as createFetchGuard } from "@latchkey/guard/fetch";
import { createGuard as createHonoGuard } from "@latchkey/guard/hono";
import { createGuard as createKoaGuard } from "@latchkey/guard/koa";
import { createGuard as createNestGuard } from "@latchkey/guard/nest";
import { createGuard as createNodeGuard } from "@latchkey/guard/node";
import { createGuard as createTrpcGuard } from "@latchkey/guard/trpc";
import { memoryStore } from "@latchkey/memory";
import { initTRPC } from "@trpc/server";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import { Elysia } from "elysia";
import express from "express";
import express4 from "express-4";
import Fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import Koa2 from "koa-2";
import { nestApp } from "./nest-app.mjs";

/** @typedef {{ question?: object, options?: object, wrap?: Function, key?: string, leaves?: boolean, handler?: Function, hangs?: boolean, settle?: Function }} Case */

/** `timeoutMs` of a case that must run out of time. */
const TIMEOUT_MS = 150;
/** `timeoutMs` of all other cases: enough even on a busy machine. Also the wait for the end of what is held. */
const PATIENT_MS = 2_000;
const after = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));
const never = () => new Promise(() => undefined);
const broken = new Error("a mistake of the host's");

/** A store that takes a while, or with `hangs` never answers. `settle` replaces the store's own, except for refreshes. */
const slow = (store, { hangs = false, settle }) =>
  new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      // A charge needs refreshes, so only ends and renewals are replaced.
      if (name === "settle")
        return (...args) =>
          (settle && args[1].kind !== "refresh" ? settle : method).apply(target, args);
      if (name !== "read" && name !== "charge") return method.bind(target);
      return async (...args) => {
        await (hangs ? never() : after(10));
        return Reflect.apply(method, target, args);
      };
    },
  });

/** @type {(timeoutMs: number) => Record<string, () => unknown>} */
const waysOf = (timeoutMs) => ({
  throws: () => {
    throw broken;
  },
  "throws nothing": () => {
    // biome-ignore lint/style/useThrowOnlyError: a careless host might do this
    throw undefined;
  },
  rejects: () => Promise.reject(broken),
  "rejects late": async () => {
    await after(2 * timeoutMs);
    throw broken;
  },
  "never ends": never,
  "answers a thenable that throws": () => ({
    // biome-ignore lint/suspicious/noThenProperty: a careless host might do this
    then: () => {
      throw broken;
    },
  }),
  "answers a symbol": () => Symbol("no answer"),
  "answers an object": () => ({ status: {}, headers: 7, body: Symbol("none") }),
});
const WAYS = waysOf(TIMEOUT_MS);

const SLOTS = { name: "slots", limit: 1_000, duration: 60, algorithm: "concurrent" };

/** @type {Record<string, Case>} */
const CASES = {};
for (const [way, hook] of Object.entries(WAYS)) {
  CASES[`getKey ${way}`] = { options: { getKey: hook } };
  CASES[`getAddress ${way}`] = { options: { getAddress: hook } };
  CASES[`getAddress of a guard that counts ${way}`] = {
    options: { getAddress: hook, limitByAddress: { limit: 9, duration: "1m" } },
  };
  CASES[`cost ${way}`] = { question: { cost: hook } };
  CASES[`a cost of a limit ${way}`] = {
    question: {
      cost: () => Promise.reject(broken),
      ratelimits: [{ name: "tiles", limit: 9, duration: "1m", cost: hook }],
    },
  };
  CASES[`onRefusal ${way}`] = { options: { onRefusal: hook }, key: "no-such-key" };
  CASES[`onError ${way}`] = { options: { onError: hook }, question: { cost: () => -1 } };
  CASES[`onRefusal and onError: one ${way}`] = {
    options: { onRefusal: hook, onError: hook },
    question: { permissions: "tiles.write" },
  };
}
for (const [what, change] of Object.entries({
  "a header of undefined": { headers: { "X-Tiles": undefined } },
  "a header with a line end": { headers: { "X-Tiles": "a\r\nb" } },
  "a header that ends in a line end": { headers: { "X-Tiles": "a\n" } },
  "a header beyond Latin-1": { headers: { "X-Tiles": "→" } },
  "a list as a header": { headers: { "X-Tiles": ["a"] } },
  "a name that is none": { headers: { "X Tiles": "a" } },
  "a trailer that nothing follows": { headers: { Trailer: "X-Tiles" } },
  "a length that is none": { headers: { "Content-Length": "-7" } },
  "two ways to end a body": { headers: { "Content-Length": "3", "Transfer-Encoding": "chunked" } },
  "a status that is none": { status: 99 },
  "a status without a body": { status: 204 },
  "a body that is no JSON": { body: { one: 1n } },
}))
  CASES[`onRefusal answers ${what}`] = { options: { onRefusal: () => change }, key: "no-such-key" };
const answered = (listener) => (req, res) => {
  void listener(req, res);
  res.writeHead(200).end("the host");
};
CASES["the host answers first, and the key is good"] = { wrap: answered };
CASES["the host answers first, and the key is not"] = { wrap: answered, key: "no-such-key" };
CASES["the host begins to answer first"] = {
  wrap: (listener) => (req, res) => {
    void listener(req, res);
    res.writeHead(202);
    res.write("the host");
    setTimeout(() => res.end(), TIMEOUT_MS);
  },
  key: "no-such-key",
};
CASES["a request without rawHeaders"] = {
  wrap: (listener) => (req, res) => {
    // From Node 26 on, headers that were not read before could not be read any more, not even by a framework.
    void req.headers;
    Object.defineProperty(req, "rawHeaders", { value: undefined });
    void listener(req, res);
  },
};
CASES["the client has left, and the key is good"] = { leaves: true };
CASES["the client has left, and the key is not"] = { leaves: true, key: "no-such-key" };
CASES["the store never answers"] = { hangs: true };
for (const [way, hook] of Object.entries(waysOf(PATIENT_MS))) {
  const reserves = { reserve: 1, ratelimits: [{ ...SLOTS }] };
  CASES[`a reservation whose end ${way}`] = { question: reserves, settle: hook };
  CASES[`a reservation whose end ${way}, and onError too`] = {
    question: reserves,
    settle: hook,
    options: { onError: hook },
  };
  CASES[`a reservation whose handler throws, and whose end ${way}`] = {
    question: reserves,
    settle: hook,
    handler: WAYS.throws,
  };
}
CASES["a handler throws"] = { handler: WAYS.throws };

/** @type {Record<string, (latchkey: any, the: Case) => Promise<{ port: number, close: () => unknown }>>} */
const ENTRIES = {
  "Express 5": (latchkey, the) => overNode(expressListener(express, latchkey, the), the),
  "Express 4": (latchkey, the) => overNode(expressListener(express4, latchkey, the), the),
  "Fastify 5": async (latchkey, { question, options, wrap, handler }) => {
    const app = Fastify({
      ...(wrap && { serverFactory: (listener) => createServer(wrap(listener)) }),
    });
    const preHandler = createFastifyGuard(latchkey, options)(question);
    app.get("/", { preHandler }, async () => handler?.() ?? "in");
    await app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = /** @type {any} */ (app.server.address());
    return { port, close: () => app.close() };
  },
  "Hono 4": (latchkey, { question, options, handler }) => {
    const app = new Hono();
    app.onError((_error, c) => c.text("broken", 500));
    app.get("/", createHonoGuard(latchkey, options)(question), (c) => {
      handler?.();
      return c.text("in");
    });
    return overFetch(app.fetch);
  },
  "node:http": (latchkey, { handler, ...the }) =>
    overNode(
      createNodeGuard(latchkey, the.options)(the.question ?? {}, (_req, res) => {
        handler?.();
        res.end("in");
      }),
      the,
    ),
  "Koa 3": (latchkey, the) => overNode(koaListener(Koa, latchkey, the), the),
  "Koa 2": (latchkey, the) => overNode(koaListener(Koa2, latchkey, the), the),
  "NestJS 12": async (latchkey, { question, options, handler, ...the }) => {
    const guard = createNestGuard(latchkey, options)(question);
    const app = await nestApp(guard, (_request, response) => {
      handler?.();
      response.send("in");
    });
    await app.init();
    return overNode(app.getHttpAdapter().getInstance(), the);
  },
  Elysia: (latchkey, { question, options, handler }) => {
    const app = new Elysia()
      .onError(({ set }) => {
        set.status = 500;
        return "broken";
      })
      .use(createElysiaGuard(latchkey, options)(question))
      .get("/", () => {
        handler?.();
        return "in";
      });
    return overFetch((request) => app.handle(request));
  },
  tRPC: (latchkey, { question, options, handler, ...the }) => {
    const t = initTRPC.create();
    const procedure = t.procedure.use(createTrpcGuard(latchkey, options)(question)).query(() => {
      handler?.();
      return "in";
    });
    const answer = createHTTPHandler({
      router: t.router({ in: procedure }),
      createContext: ({ req, res }) => ({ req, res }),
    });
    const listener = (req, res) => {
      req.url = "/in";
      answer(req, res);
    };
    return overNode(listener, the);
  },
  "a fetch handler": (latchkey, { question, options, handler }) => {
    const GET = createFetchGuard(latchkey, options)(question ?? {}, () => {
      handler?.();
      return new Response("in");
    });
    return overFetch((request) =>
      GET(request).catch(() => new Response("broken", { status: 500 })),
    );
  },
};

/** Entries without a request of Node. */
const WITHOUT_NODE = ["Hono 4", "Elysia", "a fetch handler"];

function expressListener(create, latchkey, { question, options, handler }) {
  const app = create();
  app.set("env", "test");
  app.get("/", createExpressGuard(latchkey, options)(question), (_req, res) => {
    handler?.();
    res.send("in");
  });
  return app;
}

function koaListener(Framework, latchkey, { question, options, handler }) {
  const app = new Framework();
  app.silent = true;
  app.use(createKoaGuard(latchkey, options)(question)).use((ctx) => {
    handler?.();
    ctx.body = "in";
  });
  return app.callback();
}

function overNode(listener, { wrap = (same) => same }) {
  const server = createServer(wrap(listener));
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {any} */ (server.address());
      resolve({ port, close: () => server.closeAllConnections() ?? server.close() });
    });
  });
}

function overFetch(fetch) {
  return new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve({ port, close: () => server.close() }),
    );
  });
}

/** Returns everything received, or `nothing` if the connection ends without a response. */
function visit(port, presented, leaves) {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(
        `GET / HTTP/1.1\r\nHost: tiles.example\r\nConnection: close\r\nX-API-Key: ${presented}\r\n\r\n`,
      );
      if (leaves) setTimeout(() => socket.destroy(), 4);
    });
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received === "" ? "nothing" : received));
  });
}

/** Cases that end with a timeout. */
const IN_VAIN =
  /^(getKey|getAddress|a? ?cost|onRefusal).*(never ends|rejects late)$|^the store never answers$/;

/** @type {Promise<unknown>[]} */
const closing = [];
for (const [name, the] of Object.entries(CASES)) {
  const store = memoryStore();
  const owner = createLatchkey({ store });
  const { apiId } = await owner.createApi({ name: "tiles" });
  await owner.createPermission({ name: "tiles.write" });
  const { key } = await owner.createKey({ apiId });
  const latchkey = createLatchkey({ store: slow(store, the) });
  const timeoutMs = IN_VAIN.test(name) ? TIMEOUT_MS : PATIENT_MS;
  await Promise.all(
    Object.entries(ENTRIES).map(async ([entry, start]) => {
      if (the.wrap && WITHOUT_NODE.includes(entry)) return;
      const options = { onError: () => undefined, ...the.options, timeoutMs };
      const server = await start(latchkey, { ...the, options });
      const answer = await visit(server.port, the.key ?? key, the.leaves);
      // The server stays open, so that late events can show that they break nothing.
      const late = the.leaves || the.wrap || the.settle ? after(2 * timeoutMs) : Promise.resolve();
      closing.push(late.then(() => server.close()));
      const [head, body = ""] = answer.split("\r\n\r\n");
      const status = Number(head.split(" ")[1]) || null;
      console.log(
        JSON.stringify({ entry, name, status, isIn: /^(?:2\r\n)?in\b|"data":"in"/.test(body) }),
      );
    }),
  );
}
await Promise.all(closing);
// Time for late rejections.
await after(PATIENT_MS);
console.log(
  JSON.stringify({ cases: Object.keys(CASES).length, entries: Object.keys(ENTRIES).length }),
);
process.exit(0);
