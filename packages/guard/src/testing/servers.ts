import { type AddressInfo, connect } from "node:net";
import { node } from "@elysiajs/node";
import Router from "@koa/router";
import { Elysia } from "elysia";
import express, { type Request as ExpressRequest } from "express";
import express4 from "express-4";
import Fastify, { type FastifyRequest } from "fastify";
import { type Context, Hono } from "hono";
import Koa from "koa";
import Koa2 from "koa-2";
import { onTestFinished } from "vitest";
import { createGuard as createElysiaGuard } from "../elysia.js";
import { createGuard as createExpressGuard } from "../express.js";
import { createGuard as createFastifyGuard } from "../fastify.js";
import { createGuard as createFetchGuard } from "../fetch.js";
import { createGuard as createHonoGuard } from "../hono.js";
import { createGuard as createKoaGuard } from "../koa.js";
import { createGuard as createNestGuard } from "../nest.js";
import { createGuard as createNodeGuard } from "../node.js";
import type { GuardOptions } from "../options.js";
import type { GuardLatchkey, GuardQuestion } from "../question.js";
import type { ApiKey } from "../refusal.js";
import { createGuard as createTrpcGuard } from "../trpc.js";
import { listenOn, serveElysia, serveFetch } from "./listen.js";
import { serveNest } from "./nest-app.js";
import { serveTrpc } from "./trpc-app.js";

/** Question and options for every framework: nothing in them depends on the type of its requests. */
export interface Guarded {
  readonly latchkey: GuardLatchkey;
  readonly question?: GuardQuestion<unknown>;
  readonly options?: GuardOptions<unknown>;
}

/** The response of the guarded route: the id of the key, and the length of the request's body. */
export interface Answer {
  readonly keyId: string | null;
  readonly received: number;
}

/**
 * Serves a guarded route `/tiles` with a framework until the test is over. POST reads the body as a stream.
 *
 * @returns Its port.
 */
export type Serve = (guarded: Guarded) => Promise<number>;

const lengthOf = async (body: AsyncIterable<Uint8Array> | null): Promise<number> => {
  let length = 0;
  if (body !== null) for await (const chunk of body) length += chunk.length;
  return length;
};

const answerTo = async (
  apiKey: ApiKey | null,
  body: AsyncIterable<Uint8Array> | null,
): Promise<Answer> => ({ keyId: apiKey?.keyId ?? null, received: await lengthOf(body) });

/** The same routes on both major versions, with the same guard. */
const serveExpress = (
  createApp: typeof express,
  { latchkey, question = {}, options }: Guarded,
): Promise<number> => {
  const guard = createExpressGuard(latchkey, options as GuardOptions<ExpressRequest>);
  const app = createApp();
  app.all("/tiles", guard(question), async (req, res) => {
    res.json(await answerTo(res.locals.apiKey, req));
  });
  return listenOn(app);
};

const serveKoa = (
  Framework: typeof Koa,
  { latchkey, question = {}, options }: Guarded,
): Promise<number> => {
  const guard = createKoaGuard(latchkey, options as GuardOptions<Koa.Context>);
  const router = new Router().all("/tiles", guard(question), async (ctx) => {
    ctx.body = await answerTo(ctx.state.apiKey, ctx.req);
  });
  return listenOn(new Framework().use(router.routes()).callback());
};

const serveOnNest =
  (isOnFastify: boolean): Serve =>
  ({ latchkey, question = {}, options }) => {
    const guard = createNestGuard(latchkey, options as GuardOptions<unknown>);
    const route = (apiKey: ApiKey | null, request: { readonly raw?: AsyncIterable<Uint8Array> }) =>
      answerTo(apiKey, request.raw ?? (request as AsyncIterable<Uint8Array>));
    return serveNest("tiles", guard(question), route as never, { isOnFastify });
  };

const elysiaApp = ({ latchkey, question = {}, options }: Guarded, settings = {}) =>
  // Tests send requests to hosts with names of one letter.
  new Elysia({ ...settings, handler: { standardHostname: false } })
    .use(createElysiaGuard(latchkey, options)(question))
    .all("/tiles", ({ apiKey, request }) =>
      answerTo(apiKey, request.body as AsyncIterable<Uint8Array> | null),
    );

/** Every framework, by name. */
export const SERVERS: Readonly<Record<string, Serve>> = {
  "Express 5": (guarded) => serveExpress(express, guarded),

  "Express 4": (guarded) => serveExpress(express4, guarded),

  "Fastify 5": async ({ latchkey, question, options }) => {
    const guard = createFastifyGuard(latchkey, options as GuardOptions<FastifyRequest>);
    const app = Fastify();
    app.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    app.all("/tiles", { preHandler: guard(question) }, (request) =>
      answerTo(request.apiKey, (request.body ?? null) as AsyncIterable<Uint8Array> | null),
    );
    await app.listen({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => app.close());
    return (app.server.address() as AddressInfo).port;
  },

  "Hono 4": async ({ latchkey, question = {}, options }) => {
    const guard = createHonoGuard(latchkey, options as GuardOptions<Context>);
    const app = new Hono();
    app.all("/tiles", guard(question), async (c) =>
      c.json(await answerTo(c.get("apiKey"), c.req.raw.body as AsyncIterable<Uint8Array> | null)),
    );
    return serveFetch(app.fetch);
  },

  "Koa 3": (guarded) => serveKoa(Koa, guarded),

  "Koa 2": (guarded) => serveKoa(Koa2, guarded),

  "NestJS 12 on Express": serveOnNest(false),

  "NestJS 12 on Fastify": serveOnNest(true),

  Elysia: (guarded) => {
    const app = elysiaApp(guarded);
    return serveFetch((request) => app.handle(request));
  },

  "Elysia on Node": (guarded) => serveElysia(elysiaApp(guarded, { adapter: node() })),

  tRPC: ({ latchkey, question = {}, options }) =>
    serveTrpc(
      createTrpcGuard(latchkey, options)(question),
      (apiKey, request) => answerTo(apiKey, request),
      (answer, response) => {
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify(answer));
      },
    ),

  "node:http": ({ latchkey, question = {}, options }) => {
    const guard = createNodeGuard(latchkey, options);
    return listenOn(
      guard(question, async (req, res, apiKey) => {
        res.setHeader("Content-Type", "application/json");
        res.end(JSON.stringify(await answerTo(apiKey, req)));
      }),
    );
  },

  "a fetch handler": async ({ latchkey, question = {}, options }) => {
    const guard = createFetchGuard(latchkey, options);
    const GET = guard(question, async (request: Request, apiKey) =>
      Response.json(await answerTo(apiKey, request.body as AsyncIterable<Uint8Array> | null)),
    );
    return serveFetch((request) => GET(request));
  },
};

/** Writes a raw request to a socket, and returns everything received until the other side closes. */
export function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(request, "latin1"));
    const finish = () => resolve(Buffer.concat(chunks).toString("latin1"));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", finish).on("error", finish);
  });
}
