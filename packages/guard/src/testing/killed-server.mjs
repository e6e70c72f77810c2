// @ts-nocheck: it runs on the compiled packages.
// Serves one guarded route per entry. Each reserves, takes a slot and never ends its response. Prints the ports by entry.
//   node killed-server.mjs <path of a SQLite file>

import { createServer } from "node:http";
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
import { sqliteStore } from "@latchkey/sqlite";
import { initTRPC } from "@trpc/server";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import { Elysia } from "elysia";
import express from "express";
import express4 from "express-4";
import Fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { nestApp } from "./nest-app.mjs";

const latchkey = createLatchkey({ store: sqliteStore(process.argv[2]) });
const question = { reserve: { cost: 40, ttl: "1h" }, ratelimits: [{ name: "parallel" }] };
const endless = () =>
  new Response(
    new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([49])) }),
  );

const listen = (listener) =>
  new Promise((resolve) => {
    const server = createServer(listener);
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
const overFetch = (fetch) =>
  new Promise((resolve) => {
    serve({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port));
  });
const overExpress = (create) => {
  const app = create();
  app.get("/", createExpressGuard(latchkey)(question), (_req, res) => res.write("1"));
  return listen(app);
};
const overFastify = async () => {
  const app = Fastify();
  app.get("/", { preHandler: createFastifyGuard(latchkey)(question) }, (_request, reply) => {
    reply.hijack();
    reply.raw.write("1");
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return app.server.address().port;
};
const overHono = () => {
  const app = new Hono();
  app.get("/", createHonoGuard(latchkey)(question), endless);
  return overFetch(app.fetch);
};
const overKoa = () => {
  const app = new Koa();
  app.use(createKoaGuard(latchkey)(question)).use((ctx) => {
    ctx.respond = false;
    ctx.res.statusCode = 200;
    ctx.res.write("1");
  });
  return listen(app.callback());
};
const overNest = async () => {
  const app = await nestApp(createNestGuard(latchkey)(question), (_request, response) =>
    response.write("1"),
  );
  await app.listen(0, "127.0.0.1");
  return app.getHttpServer().address().port;
};
const overElysia = () => {
  const app = new Elysia().use(createElysiaGuard(latchkey)(question)).get("/", endless);
  return overFetch((request) => app.handle(request));
};
const overTrpc = () => {
  const t = initTRPC.create();
  const router = t.router({
    in: t.procedure.use(createTrpcGuard(latchkey)(question)).subscription(async function* () {
      yield 1;
      await new Promise(() => undefined);
    }),
  });
  const handler = createHTTPHandler({ router, createContext: ({ req, res }) => ({ req, res }) });
  return listen((req, res) => {
    req.url = "/in";
    handler(req, res);
  });
};

const ports = {
  "Express 5": await overExpress(express),
  "Express 4": await overExpress(express4),
  "Fastify 5": await overFastify(),
  "Hono 4": await overHono(),
  "node:http": await listen(createNodeGuard(latchkey)(question, (_req, res) => res.write("1"))),
  "Koa 3": await overKoa(),
  "NestJS 12": await overNest(),
  Elysia: await overElysia(),
  tRPC: await overTrpc(),
  "a fetch handler": await overFetch(createFetchGuard(latchkey)(question, endless)),
};
console.log(JSON.stringify(ports));
