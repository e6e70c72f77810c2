import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { node } from "@elysiajs/node";
import { type ExecutionContext, StreamableFile } from "@nestjs/common";
import { Elysia } from "elysia";
import express, { type Request as ExpressRequest } from "express";
import express4 from "express-4";
import Fastify, { type FastifyRequest } from "fastify";
import { type Context, Hono } from "hono";
import Koa from "koa";
import Koa2 from "koa-2";
import { onTestFinished } from "vitest";
import { createGuard as createElysiaGuard } from "../elysia.js";
import { createGuard as createExpressGuard, reservedKeyOf as expressKeyOf } from "../express.js";
import { createGuard as createFastifyGuard, reservedKeyOf as fastifyKeyOf } from "../fastify.js";
import { createGuard as createFetchGuard } from "../fetch.js";
import { createGuard as createHonoGuard } from "../hono.js";
import { createGuard as createKoaGuard } from "../koa.js";
import { createGuard as createNestGuard } from "../nest.js";
import { createGuard as createNodeGuard } from "../node.js";
import type { GuardOptions } from "../options.js";
import type { GuardLatchkey, GuardQuestion } from "../question.js";
import type { ApiKey } from "../refusal.js";
import type { ReservedKey } from "../reservation.js";
import { createGuard as createTrpcGuard } from "../trpc.js";
import { listenOn, serveElysia, serveFetch } from "./listen.js";
import { serveNest } from "./nest-app.js";
import { serveTrpc } from "./trpc-app.js";

/** The body of a response: a text, none, or a stream of texts. */
export type Answered = string | null | AsyncIterable<string>;

/** A guarded route, described independently of the framework. */
export interface HeldRoute {
  readonly latchkey: GuardLatchkey;
  readonly question: GuardQuestion<unknown>;
  readonly options?: GuardOptions<unknown>;
  /** The handler. An error that it throws is the host's. */
  readonly handle: (apiKey: ReservedKey) => Answered | Promise<Answered>;
}

/** The key that a handler gets; it has `settle` and `release` only if the route reserves. */
const given = (apiKey: ApiKey | null): ReservedKey => apiKey as ReservedKey;

const responseOf = (answered: Answered): Response => {
  if (answered === null) return new Response(null, { status: 204 });
  if (typeof answered === "string") return new Response(answered);
  const stream = ReadableStream.from(answered).pipeThrough(new TextEncoderStream());
  return new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>);
};

const serveExpress = (
  createApp: typeof express,
  { latchkey, question, options, handle }: HeldRoute,
): Promise<number> => {
  const guard = createExpressGuard(latchkey, options as GuardOptions<ExpressRequest>);
  const app = createApp();
  app.set("env", "test");
  app.all("/", guard(question), (req, res, next) => {
    const answer = async () => {
      const answered = await handle(expressKeyOf(req) ?? given(res.locals.apiKey));
      if (answered === null) res.status(204).end();
      else if (typeof answered === "string") res.send(answered);
      else await pipeline(Readable.from(answered), res).catch(() => undefined);
    };
    answer().catch(next);
  });
  return listenOn(app);
};

const serveKoa = (
  Framework: typeof Koa,
  { latchkey, question, options, handle }: HeldRoute,
): Promise<number> => {
  const guard = createKoaGuard(latchkey, options as GuardOptions<Koa.Context>);
  const app = new Framework();
  app.silent = true;
  app.use(guard(question) as Koa.Middleware).use(async (ctx) => {
    const answered = await handle(given(ctx.state.apiKey));
    if (answered === null || typeof answered === "string") ctx.body = answered;
    else ctx.body = Readable.from(answered).on("error", () => ctx.res.destroy());
  });
  return listenOn(app.callback());
};

const serveOnNest =
  (isOnFastify: boolean) =>
  ({ latchkey, question, options, handle }: HeldRoute): Promise<number> => {
    const guard = createNestGuard(latchkey, options as GuardOptions<ExecutionContext>);
    const route = async (apiKey: ApiKey | null) => {
      const answered = await handle(given(apiKey));
      if (answered === null || typeof answered === "string") return answered ?? undefined;
      const file = new StreamableFile(Readable.from(answered), { type: "text/plain" });
      // Nest 10.0 has no logger of such errors.
      file.setErrorLogger?.(() => undefined);
      return file.setErrorHandler((_error, response) => response.destroy?.());
    };
    return serveNest("", guard(question), route, { isOnFastify });
  };

const elysiaApp = ({ latchkey, question, options, handle }: HeldRoute, settings = {}) =>
  new Elysia(settings)
    .use(createElysiaGuard(latchkey, options)(question))
    .all("/", async ({ apiKey }) => {
      const answered = await handle(given(apiKey));
      return typeof answered === "string" ? answered : responseOf(answered);
    });

const sendText = async (answered: Answered, response: ServerResponse): Promise<void> => {
  if (answered === null) response.writeHead(204).end();
  else if (typeof answered === "string") response.end(answered);
  else await pipeline(Readable.from(answered), response).catch(() => undefined);
};

const serveOnTrpc =
  (isOnNode: boolean) =>
  ({ latchkey, question, options, handle }: HeldRoute): Promise<number> =>
    serveTrpc(
      createTrpcGuard(latchkey, options)(question),
      (apiKey) => handle(given(apiKey)),
      sendText,
      isOnNode,
    );

/** One function per framework, by name. Each serves a guarded route at `/` until the test is over, and returns the port. */
export const HELD_SERVERS: Readonly<Record<string, (route: HeldRoute) => Promise<number>>> = {
  "Express 5": (route) => serveExpress(express, route),

  "Express 4": (route) => serveExpress(express4, route),

  "Fastify 5": async ({ latchkey, question, options, handle }) => {
    const guard = createFastifyGuard(latchkey, options as GuardOptions<FastifyRequest>);
    const app = Fastify();
    app.all("/", { preHandler: guard(question) }, async (request, reply) => {
      const answered = await handle(fastifyKeyOf(request) ?? given(request.apiKey));
      if (answered === null) return reply.code(204).send();
      return typeof answered === "string" ? answered : reply.send(Readable.from(answered));
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    onTestFinished(async () => {
      app.server.closeAllConnections();
      await app.close();
    });
    return (app.server.address() as AddressInfo).port;
  },

  "Hono 4": ({ latchkey, question, options, handle }) => {
    const guard = createHonoGuard(latchkey, options as GuardOptions<Context>);
    const app = new Hono();
    app.onError((_error, c) => c.text("broken", 500));
    app.all("/", guard(question), async (c) => responseOf(await handle(given(c.get("apiKey")))));
    return serveFetch(app.fetch);
  },

  "Hono 4 that does not know Node": ({ latchkey, question, options, handle }) => {
    const guard = createHonoGuard(latchkey, options as GuardOptions<Context>);
    const app = new Hono();
    app.onError((_error, c) => c.text("broken", 500));
    app.all("/", guard(question), async (c) => responseOf(await handle(given(c.get("apiKey")))));
    return serveFetch((request) => app.fetch(request));
  },

  "node:http": ({ latchkey, question, options, handle }) => {
    const guard = createNodeGuard(latchkey, options);
    return listenOn(
      guard(question, async (_req, res, apiKey) => {
        await sendText(await handle(given(apiKey)), res);
      }),
    );
  },

  "Koa 3": (route) => serveKoa(Koa, route),

  "Koa 2": (route) => serveKoa(Koa2, route),

  "NestJS 12 on Express": serveOnNest(false),

  "NestJS 12 on Fastify": serveOnNest(true),

  Elysia: (route) => {
    const app = elysiaApp(route);
    return serveFetch((request) => app.handle(request));
  },

  "Elysia in a group": (route) => {
    const app = new Elysia().group("/", (group) => group.use(elysiaApp(route)));
    return serveFetch((request) => app.handle(request));
  },

  "Elysia on Node": (route) => serveElysia(elysiaApp(route, { adapter: node() })),

  tRPC: serveOnTrpc(true),

  "tRPC that does not know Node": serveOnTrpc(false),

  "a fetch handler": ({ latchkey, question, options, handle }) => {
    const guard = createFetchGuard(latchkey, options);
    const GET = guard(question, async (_request: Request, apiKey) =>
      responseOf(await handle(given(apiKey))),
    );
    return serveFetch((request) =>
      GET(request).catch(() => new Response("broken", { status: 500 })),
    );
  },
};
