import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { serve } from "@hono/node-server";
import express, { type Request as ExpressRequest } from "express";
import express4 from "express-4";
import Fastify, { type FastifyRequest } from "fastify";
import { type Context, Hono } from "hono";
import { onTestFinished } from "vitest";
import { createGuard as createExpressGuard } from "../express.js";
import { createGuard as createFastifyGuard } from "../fastify.js";
import { createGuard as createFetchGuard } from "../fetch.js";
import { createGuard as createHonoGuard } from "../hono.js";
import { createGuard as createNodeGuard } from "../node.js";
import type { GuardOptions } from "../options.js";
import type { GuardLatchkey, GuardQuestion } from "../question.js";
import type { ApiKey } from "../refusal.js";

/** What every framework is asked to guard with: nothing in it depends on the kind of its requests. */
export interface Guarded {
  readonly latchkey: GuardLatchkey;
  readonly question?: GuardQuestion<unknown>;
  readonly options?: GuardOptions<unknown>;
}

/** What the guarded route answers: the id of the key, and the length of the body that it was sent. */
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

/** Listens on a free port until the test is over; answers the port. */
export const listenOn = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

const lengthOf = async (body: AsyncIterable<Uint8Array> | null): Promise<number> => {
  let length = 0;
  if (body !== null) for await (const chunk of body) length += chunk.length;
  return length;
};

const answerTo = async (
  apiKey: ApiKey | null,
  body: AsyncIterable<Uint8Array> | null,
): Promise<Answer> => ({ keyId: apiKey?.keyId ?? null, received: await lengthOf(body) });

/** The same routes on both major versions: a guard of either is the same code. */
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
    const port = await new Promise<number>((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) =>
        resolve(info.port),
      );
      onTestFinished(() => new Promise<void>((closed) => void server.close(() => closed())));
    });
    return port;
  },

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
    const port = await new Promise<number>((resolve) => {
      const server = serve(
        { fetch: (request) => GET(request), port: 0, hostname: "127.0.0.1" },
        (info) => resolve(info.port),
      );
      onTestFinished(() => new Promise<void>((closed) => void server.close(() => closed())));
    });
    return port;
  },
};

/** Writes a request to a socket as it is, and returns everything received until the other side closes. */
export function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(request, "latin1"));
    const finish = () => resolve(Buffer.concat(chunks).toString("latin1"));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", finish).on("error", finish);
  });
}
