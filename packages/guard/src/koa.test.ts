import Router from "@koa/router";
import Koa from "koa";
import { expect, test } from "vitest";
import { createGuard } from "./koa.js";
import { listenOn } from "./testing/listen.js";
import { MINUTE_MS, open } from "./testing/open.js";

test("Koa: earlier middleware sees the refusal, and each of two guards charges", async () => {
  const { latchkey, issue } = await open();
  const guard = createGuard(latchkey, { getKey: (ctx) => ctx.get("x-tiles-key") || null });
  const seen: unknown[] = [];
  const app = new Koa().use(async (ctx, next) => {
    await next();
    seen.push([ctx.status, typeof ctx.body, ctx.state.apiKey?.remaining ?? null]);
  });
  const router = new Router()
    .use(guard())
    .get("/tiles/:zoom", guard({ cost: (ctx) => Number(ctx.query.cost) }), (ctx) => {
      ctx.body = [ctx.params.zoom, ctx.state.apiKey.remaining];
    });
  const origin = `http://127.0.0.1:${await listenOn(app.use(router.routes()).callback())}`;
  const headers = { "x-tiles-key": await issue({ remaining: 9 }) };
  const answer = await fetch(`${origin}/tiles/7?cost=2`, { headers });
  expect(await answer.json()).toEqual(["7", 6]);
  expect((await fetch(`${origin}/tiles/7`)).status).toBe(401);
  expect(seen).toEqual([
    [200, "object", 6],
    [401, "string", null],
  ]);
});

test("Koa: an error of a handler behind a guard goes to Koa", async () => {
  const { latchkey, issue } = await open();
  const app = new Koa();
  const errors: unknown[] = [];
  app.on("error", (error) => errors.push(error));
  app.use(createGuard(latchkey)() as Koa.Middleware).use((ctx) => ctx.throw(418, "no tiles"));
  app.on("error", () => undefined);
  const origin = `http://127.0.0.1:${await listenOn(app.callback())}`;
  const key = await issue({ ratelimit: { limit: 5, duration: MINUTE_MS } });
  const response = await fetch(origin, { headers: { "X-API-Key": key } });
  expect([response.status, await response.text()]).toEqual([418, "no tiles"]);
});
