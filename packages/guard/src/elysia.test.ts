import { createRequire } from "node:module";
import { Elysia, sse, t } from "elysia";
import { describe, expect, test, vi } from "vitest";
import { createGuard } from "./elysia.js";
import { MINUTE_MS, open } from "./testing/open.js";

const request = (path: string, key?: string, init: RequestInit = {}) =>
  new Request(`http://tiles.example${path}`, {
    ...init,
    headers: { ...(init.headers as object), ...(key !== undefined && { "X-API-Key": key }) },
  });

test("Elysia: a guard applies only to the routes after it, in its plugin, its group or its scope", async () => {
  const { latchkey, issue } = await open();
  const guard = createGuard(latchkey);
  const app = new Elysia()
    .get("/open", (context) => String("apiKey" in context))
    .group("/tiles", (tiles) =>
      tiles.use(guard({ permissions: "tiles.read" })).get("/:zoom", ({ apiKey }) => apiKey.code),
    )
    .guard({}, (scope) => scope.use(guard()).get("/mine", ({ apiKey }) => apiKey.keyId))
    .use(
      new Elysia()
        .use(guard({ optional: true }))
        .get("/who", ({ apiKey }) => apiKey?.code ?? "nobody"),
    )
    .get("/after", (context) => String("apiKey" in context));
  const key = await issue();
  const reader = await issue({ permissions: ["tiles.read"] });
  const seen = async (path: string, one?: string) => {
    const response = await app.handle(request(path, one));
    return response.status === 200 ? await response.text() : response.status;
  };
  expect([await seen("/open"), await seen("/after")]).toEqual(["false", "false"]);
  expect([
    await seen("/tiles/7"),
    await seen("/tiles/7", key),
    await seen("/tiles/7", reader),
  ]).toEqual([401, 403, "VALID"]);
  expect([await seen("/mine"), await seen("/mine", key)]).toEqual([
    401,
    (await latchkey.whoami({ key })).id,
  ]);
  expect([await seen("/who"), await seen("/who", key)]).toEqual(["nobody", "VALID"]);
});

test("Elysia: an app of the CommonJS copy of Elysia is guarded as well", async () => {
  const other = createRequire(import.meta.url)("elysia") as { readonly Elysia: typeof Elysia };
  expect(other.Elysia).not.toBe(Elysia);
  const { latchkey, issue } = await open();
  const guard = createGuard(latchkey);
  const key = await issue({ permissions: ["tiles.read"] });
  for (const aot of [true, false]) {
    let reached = 0;
    const app = new other.Elysia({ aot }).use(guard({ permissions: "tiles.read" })).get("/", () => {
      reached += 1;
      return "in";
    });
    const refused = [await app.handle(request("/")), await app.handle(request("/", await issue()))];
    expect(refused.map(({ status }) => status)).toEqual([401, 403]);
    expect(refused[0]?.headers.get("WWW-Authenticate")).toMatch(/^Bearer/);
    expect(await refused[1]?.json()).toMatchObject({ code: "INSUFFICIENT_PERMISSIONS" });
    expect(reached).toBe(0);
    expect((await app.handle(request("/", key))).status).toBe(200);
    expect(reached).toBe(1);
    const guardedTwice = new other.Elysia({ aot })
      .use(guard({ permissions: "tiles.write" }))
      .use(guard({ permissions: "tiles.read" }))
      .get("/", () => "in");
    expect((await guardedTwice.handle(request("/", key))).status).toBe(403);
  }
});

test("Elysia: a refusal keeps its headers and its form, and limits are added to every response", async () => {
  const { latchkey, issue } = await open();
  const app = new Elysia()
    .onError(({ error }) => `broken: ${"message" in error ? error.message : ""}`)
    .use(
      createGuard(latchkey, { problem: "contract" })({ cost: ({ params }) => Number(params.cost) }),
    )
    .get("/:cost", () => "in")
    .get("/:cost/away", ({ redirect }) => redirect("https://tiles.example/", 303))
    .get("/:cost/broken", () => {
      throw new Error("no tiles");
    });
  const key = await issue({ ratelimit: { limit: 3, duration: MINUTE_MS }, remaining: 7 });
  const limitOf = async (path: string) => {
    const { status, headers } = await app.handle(request(path, key));
    return [status, headers.get("ratelimit")];
  };
  expect(await limitOf("/2")).toEqual([200, '"default";r=2;t=50']);
  expect(await limitOf("/2/away")).toEqual([303, '"default";r=1;t=50']);
  expect(await limitOf("/2/broken")).toEqual([500, '"default";r=0;t=50']);
  const refused = await app.handle(request("/1", key));
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "50"]);
  expect(refused.headers.get("content-type")).toBe("application/json");
  expect(await refused.json()).toMatchObject({ error: { code: "RATE_LIMITED" } });
  expect((await latchkey.getKey({ keyId: (await latchkey.whoami({ key })).id })).remaining).toBe(1);
});

test("Elysia: two guards each hold a slot, and both are free when the response has ended", async () => {
  const { latchkey, issue } = await open();
  const slots = (name: string) => ({
    ratelimits: [{ name, limit: 1, duration: MINUTE_MS, algorithm: "concurrent" as const }],
  });
  const guard = createGuard(latchkey);
  const app = new Elysia()
    .use(guard(slots("one")))
    .use(guard(slots("two")))
    .get("/", () => new Response("first,last"));
  const key = await issue();
  const openCount = async () => {
    const keyId = (await latchkey.whoami({ key })).id;
    return (await latchkey.listReservations({ keyId })).reservations.length;
  };
  const response = await app.handle(request("/", key));
  expect(await openCount()).toBe(2);
  expect(await response.text()).toBe("first,last");
  await expect.poll(openCount).toBe(0);
});

describe("Elysia: a slot of a route", () => {
  const slots = {
    ratelimits: [
      { name: "tiles", limit: 9, duration: MINUTE_MS, algorithm: "concurrent" as const },
    ],
  };

  async function counting() {
    const { latchkey, issue } = await open();
    const key = await issue();
    const { id: keyId } = await latchkey.whoami({ key });
    const openCount = async () => (await latchkey.listReservations({ keyId })).reservations.length;
    return { guard: createGuard(latchkey)(slots), key, openCount };
  }

  /** Results of handlers that Elysia turns into a stream. */
  const STREAMS: Record<string, () => unknown> = {
    "a generator": async function* () {
      yield "first,";
      yield "last";
    },
    "a generator of events": () => {
      function* events() {
        yield "first,";
        yield "last";
      }
      return sse(events());
    },
    "a stream": () => ReadableStream.from(["first,", "last"]),
  };

  async function read(response: Response): Promise<string> {
    let text = "";
    for await (const chunk of response.body as AsyncIterable<unknown>) text += String(chunk);
    return text;
  }

  test.each(Object.entries(STREAMS))(
    "in a group is free when the last of its values was read, and not before: %s",
    async (_name, handler) => {
      const { guard, key, openCount } = await counting();
      const app = new Elysia().group("/tiles", (tiles) => tiles.use(guard).get("/", handler));
      const plain = new Elysia().get("/tiles/", handler);
      const response = await app.handle(request("/tiles/", key));
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(await openCount()).toBe(1);
      const other = await plain.handle(request("/tiles/"));
      expect(response.headers.get("content-type")).toBe(other.headers.get("content-type"));
      expect(await read(response)).toBe(await read(other));
      await expect.poll(openCount).toBe(0);
    },
  );

  test.each([true, false])(
    "in a group is free after any other result, and after an error; compiled: %s",
    async (aot) => {
      const { guard, key, openCount } = await counting();
      const app = new Elysia({ aot }).group("/tiles", (tiles) =>
        tiles
          .use(guard)
          .get("/text", () => "in")
          .get("/nothing", () => undefined)
          .get("/error", () => {
            throw new Error("no tiles");
          }),
      );
      for (const [path, status] of [
        ["/text", 200],
        ["/nothing", 200],
        ["/error", 500],
      ] as const) {
        expect((await app.handle(request(`/tiles${path}`, key))).status).toBe(status);
        await expect.poll(openCount).toBe(0);
      }
    },
  );

  test("without compiled handlers is free after the handler, whose result is validated as ever", async () => {
    const { guard, key, openCount } = await counting();
    const app = new Elysia({ aot: false })
      .use(guard)
      .get("/text", () => "in")
      .get("/wrong", () => ({ zoom: "seven" }) as never, {
        response: t.Object({ zoom: t.Number() }),
      });
    const response = await app.handle(request("/text", key));
    expect([response.status, await response.text()]).toEqual([200, "in"]);
    await expect.poll(openCount).toBe(0);
    expect((await app.handle(request("/wrong", key))).status).toBe(422);
    await expect.poll(openCount).toBe(0);
  });

  test("is free after the response, also if the host has a Promise of its own, as that of zone.js", async () => {
    const { guard, key, openCount } = await counting();
    const app = new Elysia().use(guard).get("/text", async () => "in");
    vi.stubGlobal("Promise", class extends Promise<unknown> {});
    const response = await app.handle(request("/text", key));
    vi.unstubAllGlobals();
    expect([response.status, await response.text()]).toEqual([200, "in"]);
    await expect.poll(openCount).toBe(0);
  });
});
