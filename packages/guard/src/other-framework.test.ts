import type { RequestListener } from "node:http";
import type { Latchkey } from "@latchkey/core";
import { Elysia } from "elysia";
import express from "express";
import express4 from "express-4";
import Fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createGuard as forExpress } from "./express.js";
import { createGuard as forFastify } from "./fastify.js";
import { createGuard as forFetch } from "./fetch.js";
import { createGuard as forHono } from "./hono.js";
import { createGuard as forKoa } from "./koa.js";
import { createGuard as forNode } from "./node.js";
import { listenOn, serveFetch } from "./testing/listen.js";
import { open } from "./testing/open.js";
import { createGuard as forTrpc } from "./trpc.js";

// JavaScript imports any entry without a complaint. A framework passes over what the guard of another one returns, and goes on to the route.

const handler = () => undefined as never;

const GUARDS: Record<string, (latchkey: Latchkey) => unknown> = {
  Express: (latchkey) => forExpress(latchkey)(),
  Fastify: (latchkey) => forFastify(latchkey)(),
  Koa: (latchkey) => forKoa(latchkey)(),
  Hono: (latchkey) => forHono(latchkey)(),
  tRPC: (latchkey) => forTrpc(latchkey)(),
  "node:http": (latchkey) => forNode(latchkey)({}, handler),
  "web standard requests": (latchkey) => forFetch(latchkey)({}, handler),
};

type App = (guard: never, route: () => void) => Promise<number>;

const appOf =
  (createApp: typeof express): App =>
  (guard, route) => {
    const app = createApp();
    app.get("/", guard, (_request, response) => {
      route();
      response.send("open");
    });
    app.use(((_error, _request, response, _next) => {
      response.status(500).end();
    }) satisfies express.ErrorRequestHandler);
    return listenOn(app);
  };

/** Each serves a route behind a guard, and resolves to its port. */
const APPS: Record<string, App> = {
  Express: appOf(express),
  // It would leave a rejected promise unhandled, which ends the process.
  "Express 4": appOf(express4),
  async Fastify(guard, route) {
    const app = Fastify();
    onTestFinished(() => app.close());
    app.get("/", { preHandler: guard }, async () => {
      route();
      return "open";
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    return Number(new URL(app.listeningOrigin).port);
  },
  Koa(guard, route) {
    const app = new Koa();
    app.silent = true;
    app.use(guard);
    app.use((context) => {
      route();
      context.body = "open";
    });
    return listenOn(app.callback() as RequestListener);
  },
  Hono(guard, route) {
    const app = new Hono();
    app.onError((_error, context) => context.text("failed", 500));
    app.get("/", guard, (context) => {
      route();
      return context.text("open");
    });
    return serveFetch(app.fetch);
  },
};

/** Entries that share their form: a guard of Express is one of Connect, and `node:http` has a handler of its own. */
const SAME = new Set([
  "Express in Express",
  "Express in Express 4",
  "Fastify in Fastify",
  "Koa in Koa",
  "Hono in Hono",
  "node:http in Express",
  "node:http in Express 4",
]);

const PAIRS = Object.keys(GUARDS)
  .flatMap((guard) => Object.keys(APPS).map((app) => [guard, app] as const))
  .filter(([guard, app]) => !SAME.has(`${guard} in ${app}`));

describe("a guard in an app of another framework", () => {
  test.each(PAIRS)(
    "opens nothing, and the app answers with an error: that of %s in %s",
    async (guard, app) => {
      const { latchkey, issue } = await open();
      const route = vi.fn();
      const made = GUARDS[guard]?.(latchkey);
      const port = await (APPS[app] as App)(made as never, route);
      for (const key of ["wrong", await issue()]) {
        const { status } = await fetch(`http://127.0.0.1:${port}/`, {
          headers: { "x-api-key": key },
        });
        expect(status).toBe(500);
      }
      expect(route).not.toHaveBeenCalled();
    },
  );

  test.each(Object.entries(GUARDS))(
    "is not taken for a plugin of Elysia, which would log its rejection, and open the routes: that of %s",
    async (name, make) => {
      const { latchkey } = await open();
      const plugin = make(latchkey) as Elysia;
      expect(() => new Elysia().use(plugin)).toThrow(`this guard is for ${name}: is it from`);
    },
  );

  test.each(Object.entries(GUARDS))("says for which framework it is: %s", async (name, make) => {
    const { latchkey } = await open();
    const guard = make(latchkey) as (...given: readonly unknown[]) => unknown;
    const called = async () => guard({ headers: {} }, {});
    await expect(called()).rejects.toThrow(`this guard is for ${name}: is it from the entry for`);
  });

  test("of Express passes its error on, where the next step is a callback", async () => {
    const { latchkey } = await open();
    const next = vi.fn();
    forExpress(latchkey)()({ headers: {} } as never, {} as never, next);
    expect(next.mock.calls.flat().map(String)).toEqual([
      expect.stringContaining("this guard is for Express"),
    ]);
  });
});
