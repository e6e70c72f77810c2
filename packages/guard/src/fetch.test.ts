import { expect, test } from "vitest";
import { createGuard } from "./fetch.js";
import { open } from "./testing/open.js";

const request = (key: string) =>
  new Request("https://tiles.example/", { headers: { "X-API-Key": key } });

test("hands on what else the framework hands in, after the verdict", async () => {
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
