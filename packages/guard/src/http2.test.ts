import { once } from "node:events";
import { connect, createServer, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "@hono/node-server";
import Fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { describe, expect, onTestFinished, test } from "vitest";
import { createGuard as createFastifyGuard } from "./fastify.js";
import { createGuard as createHonoGuard } from "./hono.js";
import { createGuard as createKoaGuard } from "./koa.js";
import { createGuard as createNodeGuard } from "./node.js";
import { open, type TestContext } from "./testing/open.js";

const RESERVE = { reserve: { cost: 5 } };

/** A response that ends only when the client leaves. */
const endless = () =>
  Readable.from(
    (async function* texts() {
      for (;;) {
        yield "part,";
        await sleep(5);
      }
    })(),
  );

/** Each starts a server without TLS. `/short` answers at once, any other path never ends its answer. Resolves to its port. */
const SERVERS: Record<string, (context: TestContext) => Promise<number>> = {
  "node:http2": async ({ latchkey }) => {
    const guard = createNodeGuard(latchkey);
    const server = createServer(
      guard(RESERVE, (req, res) => {
        if (req.url === "/short") res.end("short");
        else endless().pipe(res);
      }) as never,
    );
    onTestFinished(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
  Fastify: async ({ latchkey }) => {
    const guard = createFastifyGuard(latchkey);
    const app = Fastify({ http2: true });
    onTestFinished(() => app.close());
    app.get("/short", { preHandler: guard(RESERVE) as never }, async () => "short");
    app.get("/endless", { preHandler: guard(RESERVE) as never }, async () => endless());
    await app.listen({ port: 0, host: "127.0.0.1" });
    return (app.server.address() as AddressInfo).port;
  },
  Koa: async ({ latchkey }) => {
    const app = new Koa();
    app.on("error", () => undefined);
    app.use(createKoaGuard(latchkey)(RESERVE));
    app.use((ctx) => {
      ctx.body = ctx.path === "/short" ? "short" : endless();
    });
    const server = createServer(app.callback());
    onTestFinished(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
  Hono: async ({ latchkey }) => {
    const app = new Hono();
    const guard = createHonoGuard(latchkey);
    app.get("/short", guard(RESERVE), (c) => c.text("short"));
    app.get(
      "/endless",
      guard(RESERVE),
      () => new Response(Readable.toWeb(endless()) as ReadableStream),
    );
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1", createServer });
    onTestFinished(() => void server.close());
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
};

/** Asks over HTTP/2. `leaves`: the client resets the stream after the first part of the body. */
async function visit(port: number, path: string, key: string | null, leaves = false) {
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":path": path, ...(key === null ? {} : { "x-api-key": key }) });
  const [headers]: [IncomingHttpHeaders & { ":status"?: number }] = (await once(
    stream,
    "response",
  )) as never;
  let body = "";
  for await (const part of stream.setEncoding("utf8")) {
    body += part;
    if (leaves) break;
  }
  return { status: headers[":status"], headers, body };
}

const keyOf = ({ latchkey }: TestContext, key: string) => latchkey.whoami({ key });

const usesOf = async (context: TestContext, key: string) => (await keyOf(context, key)).remaining;

async function openOf(context: TestContext, key: string): Promise<number> {
  const { id } = await keyOf(context, key);
  return (await context.latchkey.listReservations({ keyId: id })).reservations.length;
}

describe.each(Object.entries(SERVERS))("HTTP/2: %s", (_, start) => {
  test("a valid key is admitted, its reservation is settled at the end, and no key is a 401", async () => {
    const context = await open();
    const key = await context.issue({ remaining: 100 });
    const port = await start(context);
    expect(await visit(port, "/short", key)).toMatchObject({ status: 200, body: "short" });
    await expect.poll(() => usesOf(context, key)).toBe(95);
    const refused = await visit(port, "/short", null);
    expect(refused.status).toBe(401);
    expect(refused.headers["www-authenticate"]).toMatch(/^Bearer/);
    expect(JSON.parse(refused.body)).toMatchObject({ code: "KEY_MISSING" });
  });

  test("when the client leaves in the middle, the reservation ends", async () => {
    const context = await open();
    const key = await context.issue({ remaining: 100 });
    const port = await start(context);
    expect(await visit(port, "/endless", key, true)).toMatchObject({ status: 200 });
    await expect.poll(() => openOf(context, key)).toBe(0);
    expect(await usesOf(context, key)).toBe(95);
  });
});
