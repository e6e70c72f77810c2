import { createLatchkey, type LatchkeyTypes, type SettledReservation } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import type { Request as ExpressRequest, Response as ExpressResponse } from "express";
import express from "express";
import Fastify, { type FastifyRequest } from "fastify";
import { type Context, Hono } from "hono";
import { expectTypeOf, test } from "vitest";
import { createDecision } from "./decide.js";
import {
  createGuard as createExpressGuard,
  apiKeyOf as expressKeyOf,
  reservedKeyOf as expressReservedOf,
} from "./express.js";
import {
  createGuard as createFastifyGuard,
  apiKeyOf as fastifyKeyOf,
  reservedKeyOf as fastifyReservedOf,
} from "./fastify.js";
import { createGuard as createFetchGuard } from "./fetch.js";
import { createGuard as createHonoGuard } from "./hono.js";
import { createGuard as createNodeGuard } from "./node.js";
import type { ApiKey, ApiKeyOf } from "./refusal.js";
import type { ReservedKey } from "./reservation.js";
import { bearing, open } from "./testing/open.js";

// A mistake here fails the type check, which includes tests.

test("the verdict on an admitted key is that of VALID", () => {
  expectTypeOf<ApiKey["code"]>().toEqualTypeOf<"VALID">();
  expectTypeOf<ApiKey["keyId"]>().toEqualTypeOf<string>();
});

test("Express: req.apiKey, parameters and query of the route stay typed", async () => {
  const guard = createExpressGuard((await open()).latchkey, { trustProxy: 1 });
  express().get("/tiles/:zoom", guard({ permissions: "tiles.read" }), (req, res) => {
    expectTypeOf(res.locals.apiKey).toEqualTypeOf<ApiKey>();
    expectTypeOf(req.apiKey).toEqualTypeOf<ApiKey | null | undefined>();
    expectTypeOf(req.params).toEqualTypeOf<{ zoom: string }>();
    expectTypeOf(expressKeyOf(req)).toEqualTypeOf<ApiKey | null>();
    res.json([res.locals.apiKey.keyId, res.locals.anything]);
  });
  express().use("/tiles", guard());
  const seen = (req: ExpressRequest, res: ExpressResponse) => res.json(req.params.zoom);
  express().get("/tiles/:zoom", guard(), seen);
  express().post("/tiles", guard(), guard({ cost: 2 }), (_req, res) => {
    expectTypeOf(res.locals.apiKey).toEqualTypeOf<ApiKey>();
  });
  guard({
    cost: (req) => {
      expectTypeOf(req).toEqualTypeOf<ExpressRequest>();
      return Number(req.query.count);
    },
  });
  // @ts-expect-error: misspelt
  expectTypeOf(guard).toBeCallableWith({ permission: "tiles.read" });
});

test("Express: code that takes a verdict for granted does not compile where it may be null", async () => {
  const guard = createExpressGuard((await open()).latchkey);
  express().get("/open", (req, res) => {
    // @ts-expect-error: no guard was passed
    res.json(req.apiKey.keyId);
  });
  express().get("/optional", guard({ optional: true }), (req, res) => {
    expectTypeOf(res.locals.apiKey).toEqualTypeOf<ApiKey | null>();
    // @ts-expect-error: it may be null
    res.json([res.locals.apiKey.keyId]);
    // @ts-expect-error: it may be null
    res.json(req.apiKey.keyId);
  });
});

test("Fastify: request.apiKey, in both hooks, next to the route's own types", async () => {
  const guard = createFastifyGuard((await open()).latchkey);
  const app = Fastify();
  app.get<{ Params: { zoom: string } }>(
    "/tiles/:zoom",
    { preHandler: guard({ permissions: "tiles.read" }) },
    async (request) => {
      expectTypeOf(request.apiKey).toEqualTypeOf<ApiKey>();
      expectTypeOf(request.params).toEqualTypeOf<{ zoom: string }>();
      expectTypeOf(fastifyKeyOf(request)).toEqualTypeOf<ApiKey | null>();
      return request.apiKey.keyId;
    },
  );
  app.post("/tiles", { onRequest: guard() }, async (request) => request.apiKey.keyId);
  app.post("/many", { preHandler: [guard(), guard({ cost: 2 })] }, async () => "");
  guard({
    cost: (request) => {
      expectTypeOf(request).toEqualTypeOf<FastifyRequest>();
      return 1;
    },
  });
});

test("Hono: c.get, null only if the key is optional", async () => {
  const guard = createHonoGuard((await open()).latchkey);
  new Hono()
    .get("/tiles/:zoom", guard({ permissions: "tiles.read" }), (c) => {
      expectTypeOf(c.get("apiKey")).toEqualTypeOf<ApiKey>();
      expectTypeOf(c.var.apiKey).toEqualTypeOf<ApiKey>();
      expectTypeOf(c.req.param("zoom")).toEqualTypeOf<string>();
      return c.json(c.get("apiKey").keyId);
    })
    .get("/", guard({ optional: true }), (c) => {
      expectTypeOf(c.get("apiKey")).toEqualTypeOf<ApiKey | null>();
      return c.json(c.get("apiKey")?.keyId ?? null);
    });
  new Hono<{ Bindings: { NAME: string } }>().use(guard()).get("/", (c) => {
    expectTypeOf(c.env.NAME).toEqualTypeOf<string>();
    return c.text("");
  });
  guard({
    cost: (c) => {
      expectTypeOf(c).toEqualTypeOf<Context>();
      return 1;
    },
  });
});

test("node:http: the third argument, null only if the key is optional", async () => {
  const guard = createNodeGuard((await open()).latchkey);
  guard({ permissions: "tiles.read" }, (req, res, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<ApiKey>();
    expectTypeOf(req.url).toEqualTypeOf<string | undefined>();
    res.end(apiKey.keyId);
  });
  guard({ optional: true }, (_req, res, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<ApiKey | null>();
    // @ts-expect-error: it may be null
    res.end(apiKey.keyId);
  });
  const optional: boolean = Date.name === "Date";
  guard({ optional }, (_req, _res, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<ApiKey | null>();
  });
});

test("fetch: the second argument, before the framework's other arguments", async () => {
  const guard = createFetchGuard((await open()).latchkey);
  const GET = guard({ permissions: "tiles.read" }, async (request, apiKey) => {
    expectTypeOf(request).toEqualTypeOf<Request>();
    expectTypeOf(apiKey).toEqualTypeOf<ApiKey>();
    return Response.json(apiKey.keyId);
  });
  expectTypeOf(GET).toEqualTypeOf<(request: Request) => Promise<Response>>();
  interface RouteContext {
    readonly params: Promise<{ zoom: string }>;
  }
  class NextRequest extends Request {
    readonly nextUrl = new URL(this.url);
  }
  const next = guard(
    { cost: 2 },
    async (request: NextRequest, apiKey, { params }: RouteContext) => {
      expectTypeOf(apiKey).toEqualTypeOf<ApiKey>();
      return Response.json([(await params).zoom, request.nextUrl.pathname]);
    },
  );
  expectTypeOf(next).toEqualTypeOf<
    (request: NextRequest, context: RouteContext) => Promise<Response>
  >();
  interface Event {
    readonly request: Request;
    readonly locals: object;
  }
  const event = guard({ optional: true }, ({ locals }: Event, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<ApiKey | null>();
    return Response.json(locals);
  });
  expectTypeOf(event).toEqualTypeOf<(event: Event) => Promise<Response>>();
});

test("every guard knows the names that its latchkey declares, and passes its types on", () => {
  const latchkey = createLatchkey({
    store: memoryStore(),
    permissions: ["docs.read", "docs.write"],
    ratelimits: ["tiles"],
  });
  type Key = ApiKeyOf<typeof latchkey>;
  expectTypeOf<Key["permissions"][number]>().toEqualTypeOf<
    "docs.read" | "docs.write" | "docs.*" | "*"
  >();
  const question = { permissions: { or: ["docs.read", "docs.write"] }, cost: 2 } as const;

  const express_ = createExpressGuard(latchkey, { trustProxy: 1 });
  express().get("/", express_(question), (_req, res) => {
    expectTypeOf(res.locals.apiKey).toEqualTypeOf<Key>();
    res.end();
  });
  express_({ ...question, ratelimits: [{ name: "tiles", cost: () => 2 }] });
  // @ts-expect-error: misspelt
  express_({ permissions: "docs.raed" });
  // @ts-expect-error: misspelt
  express_({ ratelimits: [{ name: "tlies" }] });

  const fastify = createFastifyGuard(latchkey);
  fastify(question);
  // @ts-expect-error: misspelt
  fastify({ permissions: { and: ["docs.read", "docs.raed"] } });

  const hono = createHonoGuard(latchkey);
  new Hono().get("/", hono(question), (c) => {
    expectTypeOf(c.get("apiKey")).toEqualTypeOf<Key>();
    return c.text("");
  });
  // @ts-expect-error: misspelt
  hono({ permissions: "docs.raed" });

  const node = createNodeGuard(latchkey);
  node(question, (_req, _res, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<Key>();
  });
  // @ts-expect-error: misspelt
  node({ permissions: "docs.raed" }, () => undefined);

  const fetch_ = createFetchGuard(latchkey);
  fetch_({ ...question, optional: true }, (_request, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<Key | null>();
    return new Response();
  });
  // @ts-expect-error: misspelt
  fetch_({ permissions: "docs.raed" }, () => new Response());
});

test("settle and release exist only if the route reserves", async () => {
  const { latchkey } = await open();
  const question = { reserve: { cost: 4_000, ttl: "1m" }, onClose: "release" } as const;

  express().get("/", createExpressGuard(latchkey)(question), (req, res) => {
    expectTypeOf(res.locals.apiKey).toEqualTypeOf<ReservedKey>();
    expectTypeOf(expressReservedOf(req)).toEqualTypeOf<ReservedKey | null>();
    void res.locals.apiKey.settle({ cost: 1 });
    void res.locals.apiKey.settle({ ratelimits: [{ name: "tokens", cost: 1 }] });
    // @ts-expect-error: it may be null, and have nothing reserved
    req.apiKey.settle();
    res.end();
  });
  express().get("/", createExpressGuard(latchkey)(), (_req, res) => {
    // @ts-expect-error: nothing is reserved
    void res.locals.apiKey.settle;
    res.end();
  });
  createExpressGuard(latchkey)({
    reserve: (req) => {
      expectTypeOf(req).toEqualTypeOf<ExpressRequest>();
      return 1;
    },
  });

  Fastify().get("/", { preHandler: createFastifyGuard(latchkey)(question) }, async (request) => {
    expectTypeOf(fastifyReservedOf(request)).toEqualTypeOf<ReservedKey | null>();
    // @ts-expect-error: all routes share the type of a request
    void request.apiKey.settle;
    return await fastifyReservedOf(request)?.release();
  });

  new Hono()
    .get("/", createHonoGuard(latchkey)(question), (c) => {
      expectTypeOf(c.get("apiKey")).toEqualTypeOf<ReservedKey>();
      return c.text("");
    })
    .get("/open", createHonoGuard(latchkey)({ ...question, optional: true }), (c) => {
      expectTypeOf(c.get("apiKey")).toEqualTypeOf<ReservedKey | null>();
      return c.text("");
    });

  createNodeGuard(latchkey)({ reserve: () => 7 }, async (_req, _res, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<ReservedKey>();
    expectTypeOf(await apiKey.settle()).toEqualTypeOf<SettledReservation | null>();
  });
  createNodeGuard(latchkey)({ cost: 2 }, async (_req, _res, apiKey) => {
    // @ts-expect-error: nothing is reserved
    await apiKey.settle();
  });

  createFetchGuard(latchkey)(question, async (_request, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<ReservedKey>();
    return new Response();
  });
  createFetchGuard(latchkey)({ ...question, optional: true }, async (_request, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<ReservedKey | null>();
    return new Response();
  });

  const decision = await createDecision<null>(latchkey)(question)(bearing(), null);
  if (decision.admitted) expectTypeOf(decision.apiKey).toEqualTypeOf<ReservedKey | null>();

  const named = createLatchkey({ store: memoryStore(), ratelimits: ["tokens"] });
  createNodeGuard(named)({ reserve: 7 }, async (_req, _res, apiKey) => {
    expectTypeOf(apiKey).toEqualTypeOf<ReservedKey<TypesOfLatchkey<typeof named>>>();
    // @ts-expect-error: misspelt
    await apiKey.settle({ ratelimits: [{ name: "tokesn", cost: 1 }] });
  });
});

type TypesOfLatchkey<Guarded extends { readonly "~types"?: LatchkeyTypes }> = NonNullable<
  Guarded["~types"]
>;
