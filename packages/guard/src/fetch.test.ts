import { expect, test } from "vitest";
import { createGuard } from "./fetch.js";
import { open } from "./testing/open.js";

const request = (key: string) =>
  new Request("https://tiles.example/", { headers: { "X-API-Key": key } });

test("passes on the framework's other arguments, after the verdict", async () => {
  const { latchkey, issue } = await open();
  const GET = createGuard(latchkey)({}, async (_request, apiKey, context: { zoom: number }) =>
    Response.json([apiKey.code, context.zoom]),
  );
  const response = await GET(request(await issue()), { zoom: 7 });
  expect(await response.json()).toEqual(["VALID", 7]);
});

test("guards a handler of an event that has a request", async () => {
  const { latchkey, issue } = await open();
  const load = createGuard(latchkey)({}, (event: { request: Request; locals: string }, apiKey) =>
    Response.json([apiKey.code, event.locals]),
  );
  const response = await load({ request: request(await issue()), locals: "x" });
  expect(await response.json()).toEqual(["VALID", "x"]);
  expect((await load({ request: request("no-such-key"), locals: "x" })).status).toBe(401);
});

test.each([[undefined], [{ zoom: 7 }]])(
  "a handler that returns %j is told that it must return a Response, and its slot is free",
  async (value) => {
    const { latchkey, issue } = await open();
    const slots = { name: "loads", limit: 1, duration: "1m", algorithm: "concurrent" } as const;
    const load = createGuard(latchkey)({ ratelimits: [slots] }, () => value as never);
    const key = await issue();
    const message = "a guarded handler must return a Response";
    await expect(load(request(key))).rejects.toThrow(new TypeError(message));
    await expect.poll(() => load(request(key)).catch((error) => error.message)).toBe(message);
  },
);

test("guards middleware of an event, whose next handler makes the response", async () => {
  const { latchkey, issue } = await open();
  const guarded = createGuard(latchkey)(
    {},
    (
      event: { request: Request; locals: { code?: string } },
      apiKey,
      next: () => Promise<Response>,
    ) => {
      event.locals.code = apiKey.code;
      return next();
    },
  );
  const event = { request: request(await issue()), locals: {} as { code?: string } };
  const next = async () => Response.json(event.locals);
  expect(await (await guarded(event, next)).json()).toEqual({ code: "VALID" });
  const stranger = { request: request("no-such-key"), locals: {} };
  expect([(await guarded(stranger, next)).status, stranger.locals]).toEqual([401, {}]);
});
