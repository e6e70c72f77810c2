import Router from "@koa/router";
import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import type { ExecutionContext } from "@nestjs/common";
import { initTRPC } from "@trpc/server";
import { Elysia } from "elysia";
import type { Context } from "koa";
import { expectTypeOf, test } from "vitest";
import { createGuard as createElysiaGuard } from "./elysia.js";
import { createGuard as createKoaGuard } from "./koa.js";
import { createGuard as createNestGuard } from "./nest.js";
import type { ApiKey, ApiKeyOf } from "./refusal.js";
import type { ReservedKey } from "./reservation.js";
import { open } from "./testing/open.js";
import { createGuard as createTrpcGuard } from "./trpc.js";

// A mistake here fails the type check, which includes tests.

const question = { reserve: { cost: 4_000, ttl: "1m" }, onClose: "release" } as const;

const named = () =>
  createLatchkey({ store: memoryStore(), permissions: ["docs.read"], ratelimits: ["tiles"] });

test("Koa: ctx.state.apiKey on a route, null only if the key is optional", async () => {
  const guard = createKoaGuard((await open()).latchkey);
  new Router()
    .get("/tiles/:zoom", guard({ permissions: "tiles.read" }), (ctx) => {
      expectTypeOf(ctx.state.apiKey).toEqualTypeOf<ApiKey>();
      ctx.body = ctx.params.zoom;
    })
    .get("/", guard({ optional: true }), (ctx) => {
      expectTypeOf(ctx.state.apiKey).toEqualTypeOf<ApiKey | null>();
      // @ts-expect-error: it may be null
      ctx.body = ctx.state.apiKey.keyId;
    })
    .get("/metered", guard(question), (ctx) => {
      expectTypeOf(ctx.state.apiKey).toEqualTypeOf<ReservedKey>();
    });
  guard({
    cost: (ctx) => {
      expectTypeOf(ctx).toEqualTypeOf<Context>();
      return 1;
    },
  });
  createKoaGuard(named())({ permissions: "docs.read" });
  // @ts-expect-error: misspelt
  createKoaGuard(named())({ permissions: "docs.raed" });
});

test("Elysia: apiKey in the routes after the guard, and in no other", async () => {
  const guard = createElysiaGuard((await open()).latchkey);
  new Elysia()
    .get("/open", (context) => {
      // @ts-expect-error: no guard was passed
      return context.apiKey;
    })
    .use(guard({ permissions: "tiles.read" }))
    .get("/tiles/:zoom", ({ apiKey, params }) => {
      expectTypeOf(apiKey).toEqualTypeOf<ApiKey>();
      expectTypeOf(params.zoom).toEqualTypeOf<string>();
      return apiKey.keyId;
    });
  new Elysia().use(guard({ optional: true })).get("/", ({ apiKey }) => {
    expectTypeOf(apiKey).toEqualTypeOf<ApiKey | null>();
    return "";
  });
  new Elysia().use(guard(question)).get("/", ({ apiKey }) => {
    expectTypeOf(apiKey).toEqualTypeOf<ReservedKey>();
    return "";
  });
  const latchkey = named();
  new Elysia()
    .use(createElysiaGuard(latchkey)({ ratelimits: [{ name: "tiles" }] }))
    .get("/", ({ apiKey }) => {
      expectTypeOf(apiKey).toEqualTypeOf<ApiKeyOf<typeof latchkey>>();
      return "";
    });
  // @ts-expect-error: misspelt
  createElysiaGuard(latchkey)({ permissions: "docs.raed" });
});

test("tRPC: ctx.apiKey, next to the context's own fields", async () => {
  const { latchkey } = await open();
  const guard = createTrpcGuard(latchkey);
  const t = initTRPC.context<{ readonly req: Request; readonly user: string }>().create();
  t.procedure.use(guard({ permissions: "tiles.read" })).query(({ ctx }) => {
    expectTypeOf(ctx.apiKey).toEqualTypeOf<ApiKey>();
    expectTypeOf(ctx.user).toEqualTypeOf<string>();
    return ctx.apiKey.keyId;
  });
  t.procedure.use(guard({ optional: true })).query(({ ctx }) => {
    expectTypeOf(ctx.apiKey).toEqualTypeOf<ApiKey | null>();
  });
  t.procedure.use(guard(question)).mutation(async ({ ctx }) => {
    expectTypeOf(ctx.apiKey).toEqualTypeOf<ReservedKey>();
    await ctx.apiKey.settle({ cost: 1 });
  });
  const ofUser = createTrpcGuard(latchkey, {
    getKey: ({ ctx }: { readonly ctx: { readonly user: string } }) => ctx.user,
  });
  t.procedure.use(ofUser({ cost: ({ ctx }) => ctx.user.length })).query(() => "");
  // @ts-expect-error: the context has no such field
  initTRPC.context<{ readonly req: Request }>().create().procedure.use(ofUser());
  // @ts-expect-error: misspelt
  createTrpcGuard(named())({ permissions: "docs.raed" });
});

test("NestJS: functions get the context of the handler", async () => {
  const guard = createNestGuard((await open()).latchkey);
  guard({
    cost: (context) => {
      expectTypeOf(context).toEqualTypeOf<ExecutionContext>();
      return 1;
    },
  });
  // @ts-expect-error: misspelt
  createNestGuard(named())({ permissions: "docs.raed" });
});
