// @ts-nocheck: it runs on the compiled packages.
// Serves one guarded route of every entry, each of which reserves, takes a slot and never ends its answer. Prints the ports by entry.
//   node killed-server.mjs <path of a SQLite file>

import { createServer } from "node:http";
import { serve } from "@hono/node-server";
import { createLatchkey } from "@latchkey/core";
import { createGuard as createExpressGuard } from "@latchkey/guard/express";
import { createGuard as createFastifyGuard } from "@latchkey/guard/fastify";
import { createGuard as createFetchGuard } from "@latchkey/guard/fetch";
import { createGuard as createHonoGuard } from "@latchkey/guard/hono";
import { createGuard as createNodeGuard } from "@latchkey/guard/node";
import { sqliteStore } from "@latchkey/sqlite";
import express from "express";
import express4 from "express-4";
import Fastify from "fastify";
import { Hono } from "hono";

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

const ports = {
  "Express 5": await overExpress(express),
  "Express 4": await overExpress(express4),
  "Fastify 5": await overFastify(),
  "Hono 4": await overHono(),
  "node:http": await listen(createNodeGuard(latchkey)(question, (_req, res) => res.write("1"))),
  "a fetch handler": await overFetch(createFetchGuard(latchkey)(question, endless)),
};
console.log(JSON.stringify(ports));
