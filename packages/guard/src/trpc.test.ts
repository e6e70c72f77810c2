import { get, type IncomingMessage, type ServerResponse } from "node:http";
import { initTRPC, TRPCError } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ReservedKey } from "./reservation.js";
import { listenOn, serveFetch } from "./testing/listen.js";
import { MINUTE_MS, open, type TestContext } from "./testing/open.js";
import { ApiKeyRefused, createGuard, refusalOf } from "./trpc.js";

interface NodeContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}
interface FetchContext {
  readonly req: Request;
  readonly resHeaders: Headers;
}

/** A query that returns the id of its key, and a subscription that yields numbers until the client leaves, on one adapter. */
function serve(adapter: "node" | "fetch", { latchkey }: TestContext): Promise<number> {
  const t = initTRPC.context<NodeContext | FetchContext>().create({
    errorFormatter: ({ shape, error }) => ({
      ...shape,
      data: { ...shape.data, refusal: refusalOf(error)?.code ?? null },
    }),
  });
  const guard = createGuard(latchkey, { onError: () => undefined });
  const router = t.router({
    mine: t.procedure.use(guard()).query(({ ctx }) => ctx.apiKey.keyId),
    written: t.procedure.use(guard({ permissions: "tiles.write" })).mutation(() => "in"),
    values: t.procedure.use(guard()).query(async function* () {
      yield 1;
      yield 2;
    }),
    numbers: t.procedure.use(guard()).subscription(async function* ({ signal }) {
      yield 1;
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    }),
  });
  if (adapter === "fetch")
    return serveFetch((req) =>
      fetchRequestHandler({ req, router, endpoint: "", createContext: (given) => given }),
    );
  return listenOn(createHTTPHandler({ router, createContext: ({ req, res }) => ({ req, res }) }));
}

const ADAPTERS = ["node", "fetch"] as const;
const slots = {
  ratelimits: [
    {
      name: "parallel",
      limit: 1,
      duration: MINUTE_MS,
      algorithm: "concurrent" as const,
      autoApply: true,
    },
  ],
};

describe.each(ADAPTERS)("procedures of tRPC, behind its adapter for %s", (adapter) => {
  const ask = (port: number, path: string, key?: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}/${path}`, {
      ...init,
      headers: { ...(init.headers as object), ...(key !== undefined && { "X-API-Key": key }) },
    });
  const errorOf = async (response: Response) =>
    ((await response.json()) as { error: { message: string; data: object } }).error;

  test("a refusal is an error with the right code, and its cause contains the rest", async () => {
    const context = await open();
    const port = await serve(adapter, context);
    const nobody = await ask(port, "mine");
    expect([nobody.status, await errorOf(nobody)]).toMatchObject([
      401,
      {
        message: "an API key is needed",
        data: { code: "UNAUTHORIZED", httpStatus: 401, refusal: "KEY_MISSING" },
      },
    ]);
    expect(nobody.headers.get("www-authenticate")).toBe('Bearer realm="api"');
    const headers = { "Content-Type": "application/json" };
    const written = await ask(port, "written", await context.issue(), { method: "POST", headers });
    expect([written.status, await errorOf(written)]).toMatchObject([
      403,
      { data: { code: "FORBIDDEN", refusal: "INSUFFICIENT_PERMISSIONS" } },
    ]);
  });

  test("the headers contain the limits, even of an admitted call, and the time to wait", async () => {
    const context = await open();
    const port = await serve(adapter, context);
    const key = await context.issue({ ratelimit: { limit: 1, duration: MINUTE_MS } });
    const first = await ask(port, "mine", key);
    expect(first.headers.get("ratelimit")).toBe('"default";r=0;t=50');
    expect(await first.json()).toEqual({
      result: { data: (await context.latchkey.whoami({ key })).id },
    });
    const second = await ask(port, "mine", key);
    expect([second.status, second.headers.get("retry-after")]).toEqual([429, "50"]);
    expect((await errorOf(second)).data).toMatchObject({ code: "TOO_MANY_REQUESTS" });
  });

  test("each procedure of a batch is decided separately", async () => {
    const context = await open();
    const port = await serve(adapter, context);
    const key = await context.issue({ remaining: 1 });
    const batch = await ask(port, "mine,mine?batch=1&input={}", key);
    const answers = (await batch.json()) as readonly { readonly error?: unknown }[];
    expect([batch.status, answers.map(({ error }) => error === undefined).sort()]).toEqual([
      207,
      [false, true],
    ]);
  });

  test("a subscription holds its slot while it is read, and frees it when its client disconnects", async () => {
    const context = await open();
    const port = await serve(adapter, context);
    const key = await context.issue(slots);
    const openCount = async () => {
      const keyId = (await context.latchkey.whoami({ key })).id;
      return (await context.latchkey.listReservations({ keyId })).reservations.length;
    };
    const request = get({
      port,
      host: "127.0.0.1",
      path: "/numbers",
      headers: { "X-API-Key": key },
    });
    request.on("error", () => undefined);
    await new Promise<void>((resolve) =>
      request.on("response", (response: IncomingMessage) => {
        response.on("error", () => undefined);
        response.on("data", (chunk) => {
          if (String(chunk).includes("data: 1")) resolve();
        });
      }),
    );
    expect(await openCount()).toBe(1);
    expect((await ask(port, "mine", key)).status).toBe(429);
    request.destroy();
    await expect.poll(openCount).toBe(0);
  });

  test("values that a query streams free the slot after the last of them", async () => {
    const context = await open();
    const port = await serve(adapter, context);
    const key = await context.issue(slots);
    const visit = async () => {
      const headers = { "X-API-Key": key, "trpc-accept": "application/jsonl" };
      const url = `http://127.0.0.1:${port}/values?batch=1&input={}`;
      const response = await fetch(url, { headers });
      return [response.status, (await response.text()).includes("TOO_MANY_REQUESTS")];
    };
    expect(await visit()).toEqual([200, false]);
    await expect.poll(visit).toEqual([200, false]);
  });
});

describe("a guard of tRPC", () => {
  const t = initTRPC.context<{ readonly token?: string; readonly req?: unknown }>().create();

  test("fails closed if the context has no request, unless the host has getKey", async () => {
    const { latchkey, issue } = await open();
    const onError = vi.fn();
    const options = { onError };
    const call = (guard: ReturnType<ReturnType<typeof createGuard>>, token?: string) =>
      t
        .router({ mine: t.procedure.use(guard as never).query(() => "in") })
        .createCaller(token === undefined ? {} : { token })
        .mine()
        .catch((error: TRPCError) => [error.code, refusalOf(error)?.code]);
    const optional = createGuard(latchkey, options)({ optional: true });
    expect(await call(optional as never)).toEqual([
      "INTERNAL_SERVER_ERROR",
      "INTERNAL_SERVER_ERROR",
    ]);
    expect(String(onError.mock.calls[0]?.[0])).toContain('"req"');
    const found = createGuard(latchkey, {
      ...options,
      getKey: ({ ctx }: { readonly ctx: { readonly token?: string } }) => ctx.token ?? null,
    })();
    expect(await call(found as never)).toEqual(["UNAUTHORIZED", "KEY_MISSING"]);
    expect(await call(found as never, await issue())).toBe("in");
  });

  test("recognizes its refusal even if a bundler has loaded the module twice", async () => {
    const { latchkey } = await open();
    vi.resetModules();
    const copy: typeof import("./trpc.js") = await import("./trpc.js");
    expect(copy.ApiKeyRefused).not.toBe(ApiKeyRefused);
    const guard = copy.createGuard(latchkey, { getKey: () => null })();
    const router = t.router({ mine: t.procedure.use(guard as never).query(() => "in") });
    const error = await router
      .createCaller({})
      .mine()
      .catch((thrown: TRPCError) => thrown);
    expect(refusalOf(error as TRPCError)).toMatchObject({ code: "KEY_MISSING", status: 401 });
    for (const cause of [undefined, "ApiKeyRefused", { name: "ApiKeyRefused", refusal: {} }])
      expect(refusalOf({ cause })).toBe(null);
    expect(refusalOf({ cause: Object.assign(new Error(""), { refusal: {} }) })).toBe(null);
    expect(refusalOf({ cause: Object.assign(new Error(""), { name: "ApiKeyRefused" }) })).toBe(
      null,
    );
  });

  test("on a WebSocket, frees the slot at the end of each call, not of the connection", async () => {
    const { latchkey, issue } = await open();
    const key = await issue(slots);
    const req = { rawHeaders: ["X-API-Key", key], socket: {} };
    // As `ws` has it: it emits events, and stays open for hours.
    const res = { once: () => res, on: () => res, off: () => res };
    const guard = createGuard(latchkey, { onError: () => undefined })();
    const router = t.router({ mine: t.procedure.use(guard).query(() => "in") });
    const caller = router.createCaller({ req, res } as never);
    expect(await caller.mine()).toBe("in");
    await expect.poll(() => caller.mine().catch(() => "refused")).toBe("in");
  });

  test("frees the slot some seconds after a client has left a subscription that ignores it and yields no more", async () => {
    const { latchkey, issue } = await open();
    const key = await issue(slots);
    const { id: keyId } = await latchkey.whoami({ key });
    const openCount = async () => (await latchkey.listReservations({ keyId })).reservations.length;
    const router = t.router({
      mine: t.procedure.use(createGuard(latchkey)()).subscription(async function* () {
        yield 1;
        await new Promise(() => undefined);
      }),
    });
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const controller = new AbortController();
    const req = { rawHeaders: ["X-API-Key", key], socket: {} };
    const values = await router.createCaller({ req }, { signal: controller.signal }).mine();
    const iterator = (values as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    await iterator.next();
    void iterator.next();
    controller.abort();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await openCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await openCount()).toBe(0);
  });

  test("passes on what a procedure throws, and settles what it has not settled", async () => {
    const { latchkey, issue } = await open();
    const key = await issue({ remaining: 100 });
    const onError = () => undefined;
    const guard = createGuard(latchkey, { onError })({
      reserve: ({ input }) => (input === undefined ? 40 : 1),
    });
    const seen: ReservedKey[] = [];
    const router = t.router({
      broken: t.procedure.use(guard).query(({ ctx }): string => {
        seen.push(ctx.apiKey);
        throw new Error("no tiles");
      }),
    });
    const req = { rawHeaders: ["X-API-Key", key], socket: {} };
    await expect(router.createCaller({ req }).broken()).rejects.toThrow("no tiles");
    const { id: keyId } = await latchkey.whoami({ key });
    const remaining = async () => (await latchkey.getKey({ keyId })).remaining;
    await expect.poll(remaining).toBe(60);
    expect(seen).toHaveLength(1);
  });

  test("maps a status from onRefusal to the code of that status", async () => {
    const { latchkey } = await open();
    for (const [status, code] of [
      [404, "NOT_FOUND"],
      [418, "FORBIDDEN"],
      [204, "FORBIDDEN"],
      [599, "INTERNAL_SERVER_ERROR"],
    ] as const) {
      const guard = createGuard(latchkey, { onRefusal: () => ({ status }) })();
      const router = t.router({ mine: t.procedure.use(guard).query(() => "in") });
      const req = { rawHeaders: [], socket: {} };
      const error = await router
        .createCaller({ req })
        .mine()
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TRPCError);
      expect([status, (error as TRPCError).code]).toEqual([status, code]);
      expect((error as TRPCError).cause).toBeInstanceOf(ApiKeyRefused);
    }
    expect(refusalOf(new Error("another"))).toBeNull();
  });
});
