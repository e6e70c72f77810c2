// Like app.test.ts, but with Node's own test runner: `node --test app.node-test.mjs`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestLatchkey } from "latchkey/testing";
import inject from "light-my-request";
import { createApp } from "./app.mjs";

test("a key is admitted again after the refill, with the fake timers of Node", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2030, 5, 1, 12) });
  const { latchkey, seed } = createTestLatchkey({ now: () => Date.now() });
  const { keys } = await seed({
    apis: { tiles: {} },
    keys: {
      visitor: {
        api: "tiles",
        permissions: ["tiles.read"],
        remaining: 1,
        refill: { interval: "daily", amount: 1 },
      },
    },
  });
  const app = createApp(latchkey);
  const headers = { authorization: `Bearer ${keys.visitor.key}` };
  const visit = async () => {
    const { statusCode } = await inject(/** @type {never} */ (app), { url: "/tiles/7", headers });
    return statusCode;
  };
  assert.equal(await visit(), 200);
  assert.equal(await visit(), 429);
  context.mock.timers.tick(24 * 60 * 60 * 1000);
  assert.equal(await visit(), 200);
});
