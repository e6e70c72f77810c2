import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { serve } from "@hono/node-server";
import express, { type Request as ExpressRequest } from "express";
import express4 from "express-4";
import Fastify, { type FastifyRequest } from "fastify";
import { type Context, Hono } from "hono";
import { onTestFinished } from "vitest";
import { createGuard as createExpressGuard, reservedKeyOf as expressKeyOf } from "../express.js";
import { createGuard as createFastifyGuard, reservedKeyOf as fastifyKeyOf } from "../fastify.js";
import { createGuard as createFetchGuard } from "../fetch.js";
import { createGuard as createHonoGuard } from "../hono.js";
import { createGuard as createNodeGuard } from "../node.js";
import type { GuardOptions } from "../options.js";
import type { GuardLatchkey, GuardQuestion } from "../question.js";
import type { ApiKey } from "../refusal.js";
import type { ReservedKey } from "../reservation.js";
import { listenOn } from "./servers.js";

/** What a route answers: a text, nothing, or texts one after the other. */
export type Answered = string | null | AsyncIterable<string>;

/** A guarded route, in words that every framework is told in its own. */
export interface HeldRoute {
  readonly latchkey: GuardLatchkey;
  readonly question: GuardQuestion<unknown>;
  readonly options?: GuardOptions<unknown>;
  /** The handler. What it throws is an error of the host's. */
  readonly handle: (apiKey: ReservedKey) => Answered | Promise<Answered>;
}

/** The key that a handler is given; `settle` and `release` are there where the route reserves. */
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

const serveFetch = async (fetch: Parameters<typeof serve>[0]["fetch"]): Promise<number> =>
  new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: "127.0.0.1" }, (info) => resolve(info.port));
    onTestFinished(() => new Promise<void>((closed) => void server.close(() => closed())));
  });

/** Serves a guarded route at `/` until the test is over, and answers the port: every entry, by the name of its framework. */
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
        const answered = await handle(given(apiKey));
        if (answered === null) res.writeHead(204).end();
        else if (typeof answered === "string") res.end(answered);
        else await pipeline(Readable.from(answered), res).catch(() => undefined);
      }),
    );
  },

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
