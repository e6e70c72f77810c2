import { Elysia } from "elysia";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { describe, expect, test } from "vitest";
import { createGuard as createElysiaGuard } from "./elysia.js";
import { createGuard as createExpressGuard } from "./express.js";
import { createGuard as createFastifyGuard } from "./fastify.js";
import { createGuard as createHonoGuard } from "./hono.js";
import { createGuard as createKoaGuard } from "./koa.js";
import { createGuard as createNodeGuard } from "./node.js";
import type { GuardLatchkey } from "./question.js";
import { listenOn, serveFetch } from "./testing/listen.js";
import { MINUTE_MS, open } from "./testing/open.js";

const NAME = "RateLimit";
const EARLIER = '"address";r=1;t=1';
const OWN = '"handler";r=1;t=1';

/** Who sets the field besides the guard. */
interface Setters {
  readonly latchkey: GuardLatchkey;
  readonly isEarlier: boolean;
  readonly isOwn: boolean;
}

const honoApp =
  (isRaw: boolean) =>
  ({ latchkey, isEarlier, isOwn }: Setters) => {
    const guard = createHonoGuard(latchkey);
    const app = new Hono()
      .use(async (c, next) => {
        if (isEarlier) c.header(NAME, EARLIER);
        await next();
      })
      .get("/", guard({}), guard({}), (c) => {
        if (isRaw) return new Response("{}", isOwn ? { headers: { [NAME]: OWN } } : undefined);
        if (isOwn) c.header(NAME, OWN);
        return c.json({});
      });
    return serveFetch((request) => app.fetch(request));
  };

const HOSTS: Readonly<Record<string, (setters: Setters) => Promise<number>>> = {
  "node:http": ({ latchkey, isEarlier, isOwn }) => {
    const guard = createNodeGuard(latchkey);
    const handle = guard({}, (_, response) => {
      if (isOwn) response.setHeader(NAME, OWN);
      response.end("{}");
    });
    return listenOn((request, response) => {
      if (isEarlier) response.setHeader(NAME, EARLIER);
      handle(request, response);
    });
  },
  Express: ({ latchkey, isEarlier, isOwn }) => {
    const guard = createExpressGuard(latchkey);
    const app = express();
    app.use((_request, response, next) => {
      if (isEarlier) response.setHeader(NAME, EARLIER);
      next();
    });
    app.get("/", guard({}), guard({}), (_request, response) => {
      if (isOwn) response.setHeader(NAME, OWN);
      response.json({});
    });
    return listenOn(app);
  },
  Koa: ({ latchkey, isEarlier, isOwn }) => {
    const guard = createKoaGuard(latchkey);
    const app = new Koa()
      .use((ctx, next) => {
        if (isEarlier) ctx.set(NAME, EARLIER);
        return next();
      })
      .use(guard({}))
      .use(guard({}))
      .use((ctx) => {
        if (isOwn) ctx.set(NAME, OWN);
        ctx.body = {};
      });
    return listenOn(app.callback());
  },
  Fastify: async ({ latchkey, isEarlier, isOwn }) => {
    const guard = createFastifyGuard(latchkey);
    const app = Fastify();
    app.addHook("onRequest", async (_request, reply) => {
      if (isEarlier) reply.header(NAME, EARLIER);
    });
    app.get("/", { preHandler: [guard({}), guard({})] }, async (_request, reply) => {
      if (isOwn) reply.header(NAME, OWN);
      return {};
    });
    await app.ready();
    return listenOn((request, response) => app.routing(request, response));
  },
  "Hono, with its helpers": honoApp(false),
  "Hono, with a plain response": honoApp(true),
  Elysia: ({ latchkey, isEarlier, isOwn }) => {
    const app = new Elysia({ handler: { standardHostname: false } })
      .onRequest(({ set }) => {
        if (isEarlier) set.headers.ratelimit = EARLIER;
      })
      .use(createElysiaGuard(latchkey)({}))
      .get("/", ({ set }) => {
        if (isOwn) set.headers.ratelimit = OWN;
        return {};
      });
    return serveFetch((request) => app.handle(request));
  },
};

describe.each(Object.entries(HOSTS))("the fields about limits, in %s", (name, serve) => {
  test.each([
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ])(
    "are those of whoever set them last: middleware before %s, the handler %s",
    async (isEarlier, isOwn) => {
      const { latchkey, issue } = await open();
      const key = await issue({ ratelimit: { limit: 9, duration: MINUTE_MS } });
      const port = await serve({ latchkey, isEarlier, isOwn });
      const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { "X-API-Key": key } });
      expect(response.status).toBe(200);
      const hasOneGuard = name === "node:http" || name === "Elysia";
      const field = `"default";r=${hasOneGuard ? 8 : 7};t=50`;
      expect(response.headers.get(NAME)).toBe(isOwn ? OWN : field);
      expect(response.headers.get("RateLimit-Policy")).toBe('"default";q=9;w=60');
    },
  );
});
