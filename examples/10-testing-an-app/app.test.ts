import { createTestLatchkey } from "latchkey/testing";
import inject from "light-my-request";
import { expect, onTestFinished, test, vi } from "vitest";
import { createApp } from "./app.mjs";

/** The application on a test latchkey, with a key that gets two uses a day. */
async function openApp() {
  const testing = createTestLatchkey();
  const { keys } = await testing.seed({
    apis: { tiles: {} },
    keys: {
      visitor: {
        api: "tiles",
        permissions: ["tiles.read"],
        remaining: 2,
        refill: { interval: "daily", amount: 2 },
      },
      stranger: { api: "tiles" },
    },
  });
  const app = createApp(testing.latchkey);
  /** A request without a network, whose response is an object. */
  const visit = (key: string) =>
    inject(app as Parameters<typeof inject>[0], {
      url: "/tiles/7",
      headers: { authorization: `Bearer ${key}` },
    });
  return { ...testing, keys, visit };
}

test("a key is admitted until its uses are gone, and again after the refill", async () => {
  const { visit, keys, clock } = await openApp();
  const { key } = keys.visitor;
  expect((await visit(key)).json()).toEqual({ zoom: "7", usesLeft: 1 });
  expect((await visit(key)).statusCode).toBe(200);
  const refused = await visit(key);
  expect(refused.statusCode).toBe(429);
  // Time stands still at midnight, so that the whole day is left.
  expect(refused.headers["retry-after"]).toBe("86400");

  clock.advance({ hours: 23 });
  expect((await visit(key)).statusCode).toBe(429);
  clock.advance({ hours: 1 });
  expect((await visit(key)).json()).toEqual({ zoom: "7", usesLeft: 1 });
});

test("a key without the permission is refused, and so is an unknown key", async () => {
  const { visit, keys, recorder } = await openApp();
  expect((await visit(keys.stranger.key)).statusCode).toBe(403);
  expect((await visit("no-such-key")).statusCode).toBe(401);
  expect(recorder.of("key.verified").map(({ code }) => code)).toEqual([
    "INSUFFICIENT_PERMISSIONS",
    "NOT_FOUND",
  ]);
});

test("while the store is unavailable nobody is admitted or charged, and the log says why", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  const { visit, keys, failStore } = await openApp();
  const { key } = keys.visitor;
  failStore({ times: 1 });
  expect((await visit(key)).statusCode).toBe(503);
  expect(log).toHaveBeenCalledOnce();
  expect((await visit(key)).json()).toEqual({ zoom: "7", usesLeft: 1 });
});
