import { describe, expect, test } from "vitest";
import { createDecision } from "./decide.js";
import { open } from "./testing/open.js";

describe("the options of a guard", () => {
  test.each([
    [{ trustProxies: 1 }, '"trustProxies" is not an option'],
    [{ trustProxy: true }, '"trustProxy" must be a whole number >= 0'],
    [{ trustProxy: -1 }, '"trustProxy"'],
    [{ trustProxy: 1.5 }, '"trustProxy"'],
    [{ problem: "xml" }, '"problem" must be'],
    [{ usedUpStatus: 403 }, '"usedUpStatus" must be 429 or 402'],
    [{ getKey: "x-key" }, '"getKey" must be a function'],
    [{ onRefusal: {} }, '"onRefusal" must be a function'],
    [{ onError: null }, '"onError" must be a function'],
    [{ timeoutMs: 0 }, '"timeoutMs" must be a whole number of ms from 1 to 2147483647'],
    [{ timeoutMs: 2_147_483_648 }, '"timeoutMs" must be'],
    [{ timeoutMs: "soon" }, '"timeoutMs" must be'],
    [{ unknownLimit: "ignore" }, '"unknownLimit" must be "error" or "skip"'],
    [{ limitByAddress: 5 }, '"limitByAddress" must be an object'],
    [
      { limitByAddress: { limit: 0, duration: "1m" } },
      '"limitByAddress.limit" must be a whole number >= 1',
    ],
    [
      { limitByAddress: { limit: 5 } },
      '"limitByAddress.duration" must be a whole number of ms from 1 to 2^52',
    ],
    [{ limitByAddress: { limit: 5, duration: 0.5 } }, '"limitByAddress.duration" must be'],
    [{ limitByAddress: { limit: 5, duration: "1m", window: 1 } }, '"limitByAddress.window" is not'],
    [Object.create({ getKey: () => "k" }), '"getKey" must be a field of the object itself'],
    [null, "an object is required"],
  ])("%j are refused by name", async (options, message) => {
    const { latchkey } = await open();
    expect(() => createDecision(latchkey, options as never)).toThrow(
      expect.objectContaining({ name: "TypeError", message: expect.stringContaining(message) }),
    );
  });

  test("can each be undefined, which is the same as leaving it out", async () => {
    const { latchkey } = await open();
    const names = [
      "getKey",
      "getAddress",
      "timeoutMs",
      "limitByAddress",
      "unknownLimit",
      "onError",
    ];
    const options = Object.fromEntries(names.map((name) => [name, undefined]));
    expect(createDecision(latchkey, options)()).toBeTypeOf("function");
  });

  test("can be at their bounds", async () => {
    const { latchkey } = await open();
    for (const timeoutMs of [1, 2_147_483_647, "1s"] as const)
      expect(createDecision(latchkey, { timeoutMs })()).toBeTypeOf("function");
    const limitByAddress = { limit: 1, duration: 1 };
    expect(createDecision(latchkey, { limitByAddress })()).toBeTypeOf("function");
  });
});

describe("the question of a route is refused when its guard is created, not at the first request", () => {
  test.each([
    [
      { permission: "tiles.read" },
      '"permission" is not an option of a guarded route: use "permissions"',
    ],
    [{ apiID: "api_1" }, '"apiID" is not an option of a guarded route: use "apiId"'],
    [{ optional: "yes" }, '"optional" must be true or false'],
    [{ permissions: { and: [] } }, "permissions.and"],
    [{ permissions: "" }, "permissions"],
    [{ permissions: "tiles read" }, '"permissions" must be 1 to 512 characters of A-Z a-z'],
    [{ permissions: { or: ["tiles.*", "tiles/read"] } }, '"permissions.or.1" must be'],
    [{ cost: -1 }, '"cost" must be'],
    [{ cost: "1" }, '"cost" must be'],
    [{ ratelimits: [{ name: "" }] }, "ratelimits.0.name"],
    [{ ratelimits: [{ name: "a", cost: "1" }] }, "ratelimits.0.cost"],
    [{ ratelimits: [{ name: "a" }, { name: "a", cost: () => 1 }] }, "ratelimits.1.name"],
    [{ ratelimits: [{ name: "a", costs: () => 1 }] }, "costs"],
    ["tiles.read", "an object is required: each of its fields is an option of a guarded route"],
    [new Request("http://maps.example"), "use guard() or guard({ … }) there, not guard itself"],
    [{ req: {}, res: {} }, "use guard() or guard({ … }) there, not guard itself"],
    [{ request: {}, response: {} }, "use guard() or guard({ … }) there, not guard itself"],
    [{ ctx: {}, next: () => {} }, "use guard() or guard({ … }) there, not guard itself"],
  ])("%j", async (question, message) => {
    const { latchkey } = await open();
    expect(() => createDecision(latchkey)(question as never)).toThrow(message);
  });
});
