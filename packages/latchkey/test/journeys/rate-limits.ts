import type { Latchkey } from "@latchkey/core";
import { expect } from "vitest";
import { expectRefused, HOUR_MS, issue, NOON, type TestContext } from "../test-context.js";
import type { Journey } from "./journey.js";

/** Names that would collide if a store joined them or treated a character specially. */
const names = [
  ["a", "b:c"],
  ["a:b", "c"],
  ["a.b", "c"],
  ["a", "b.c"],
  ["a", "b\u0001c"],
  ["a", "b c"],
  ["a", "{b}c"],
  ["a", "b*c"],
  ["a", "é\u{1f511}"],
  ["A", "É\u{1f511}"],
] as const;

const login = { namespace: "login", identifier: "192.0.2.7", limit: 17, duration: HOUR_MS };

/** limit, resetLimit. */
export const RATE_LIMITS: Journey = {
  resource: "rate limits",
  title: "admit exactly the limit in each window, through all processes together",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? latchkey : other).limit(login)),
    );
    const left = outcomes.filter(({ success }) => success).map(({ remaining }) => remaining);
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 17 }, (_, at) => at));
    const refused = { success: false, limit: 17, remaining: 0, reset: NOON + HOUR_MS };
    expect(await latchkey.limit(login)).toEqual(refused);
    for (const free of [
      other.limit({ ...login, identifier: "192.0.2.8" }),
      other.limit({ ...login, namespace: "logout" }),
      other.workspace("ws_other").limit(login),
    ])
      expect(await free).toMatchObject({ success: true, remaining: 16 });

    context.setClock(NOON + HOUR_MS - 1);
    expect(await other.limit({ ...login, cost: 0 })).toMatchObject({ remaining: 0 });
    context.setClock(NOON + HOUR_MS);
    expect(await other.limit({ ...login, cost: 16 })).toMatchObject({ remaining: 1 });
    expect(await latchkey.limit({ ...login, cost: 2 })).toMatchObject({
      success: false,
      remaining: 1,
    });
    await expectRefused("BAD_REQUEST", [latchkey.limit({ ...login, limit: 0 })]);

    await startAnew(context);
    await tellNamesApart(latchkey);
    await takeTheLargestNumbers(latchkey);
  },
};

async function startAnew(context: TestContext) {
  const { latchkey } = context;
  const other = context.another();
  const { namespace, identifier, duration } = login;
  await latchkey.resetLimit({ namespace, identifier, duration });
  expect(await other.limit(login)).toMatchObject({ success: true, remaining: 16 });
  const { identityId } = await latchkey.createIdentity({
    externalId: "team",
    ratelimits: [{ name: "all", limit: 1, duration: HOUR_MS, autoApply: true }],
  });
  const ratelimit = { limit: 1, duration: HOUR_MS };
  const { keyId, key } = await issue(context, { externalId: "team", ratelimit });
  const question = { key, ratelimits: [{ name: "burst", ...ratelimit }] };
  const limits = [
    { identityId, name: "all" },
    { keyId, name: "default" },
    { keyId, name: "burst", duration: HOUR_MS },
  ];
  expect(await other.verifyKey(question)).toMatchObject({ code: "VALID" });
  for (const limit of limits) {
    expect(await other.verifyKey(question)).toMatchObject({ code: "RATE_LIMITED" });
    await latchkey.resetLimit(limit);
  }
  expect(await other.verifyKey(question)).toMatchObject({ code: "VALID" });
  await expectRefused("NOT_FOUND", [
    latchkey.workspace("ws_other").resetLimit({ keyId, name: "default" }),
  ]);
}

async function tellNamesApart(latchkey: Latchkey) {
  for (const [namespace, identifier] of names) {
    const once = { namespace, identifier, limit: 1, duration: HOUR_MS };
    expect(await latchkey.limit(once)).toMatchObject({ success: true });
    expect(await latchkey.limit(once)).toMatchObject({ success: false });
  }
}

async function takeTheLargestNumbers(latchkey: Latchkey) {
  const most = Number.MAX_SAFE_INTEGER;
  const longest = { namespace: "n".repeat(128), identifier: "i".repeat(255) };
  const all = { ...longest, limit: most, duration: 2 ** 52, cost: most };
  expect(await latchkey.limit(all)).toEqual({
    success: true,
    limit: most,
    remaining: 0,
    reset: 2 ** 52,
  });
  expect(await latchkey.limit(all)).toMatchObject({ success: false, remaining: 0 });
}
