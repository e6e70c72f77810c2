import type { Latchkey, LimitAlgorithm } from "@latchkey/core";
import { expect } from "vitest";
import { expectRefused, issue, NOON, rejectionOf, type TestContext } from "../test-context.js";
import type { Journey } from "./journey.js";

const SPAN = 1_600;
const SLIDING = { limit: 4, duration: SPAN, algorithm: "sliding" } as const;
const BUCKET = { limit: 3, duration: SPAN, algorithm: "token-bucket", burst: 5 } as const;
const FIXED = { limit: 4, duration: SPAN };

/** Limits with an algorithm, and shadow limits. */
export const LIMIT_ALGORITHMS: Journey = {
  resource: "limit algorithms",
  title: "are decided exactly and shown as they are, through all processes together",
  async run(context) {
    await areShown(context);
    await sayWhenToRetry(context);
    await startAnewOrGoOn(context);
    await areDecidedEachByItsOwn(context);
    await areEmptied(context);
    await tryALimit(context);
    await repeatAnAnswer(context);
    await outliveRotation(context);
    await refuseBadFigures(context);
  },
};

async function areShown(context: TestContext) {
  const { latchkey } = context;
  const { identityId } = await latchkey.createIdentity({
    externalId: "harbour",
    ratelimits: [{ name: "shared", ...SLIDING, shadow: true, autoApply: true }],
  });
  const ratelimits = [{ name: "tiles", ...BUCKET, autoApply: true }];
  const { key, keyId } = await issue(context, {
    externalId: "harbour",
    ratelimit: SLIDING,
    ratelimits,
  });
  expect((await latchkey.getKey({ keyId })).ratelimits).toMatchObject([
    { name: "default", ...SLIDING },
    { name: "tiles", ...BUCKET },
  ]);
  expect((await latchkey.getIdentity({ identityId })).ratelimits).toMatchObject([
    { name: "shared", ...SLIDING, shadow: true },
  ]);
  const adHoc = { name: "once", ...BUCKET, shadow: true, cost: 6 };
  const limits = [
    { name: "default", ...SLIDING, remaining: 3, exceeded: false, reset: NOON + 1_699 },
    { name: "tiles", ...BUCKET, remaining: 4, exceeded: false, reset: NOON + 534 },
    { name: "shared", ...SLIDING, shadow: true, exceeded: false, remaining: 3 },
    { name: "once", ...BUCKET, shadow: true, exceeded: true, remaining: 5, reset: NOON },
  ];
  const verdict = await context.another().verifyKey({ key, ratelimits: [adHoc] });
  expect(verdict).toMatchObject({ code: "VALID", ratelimits: limits });
  await latchkey.updateKey({ keyId, ratelimit: { ...BUCKET, shadow: true }, ratelimits: null });
  expect(await context.another().verifyKey({ key })).toMatchObject({
    ratelimit: { limit: 3, algorithm: "token-bucket", burst: 5, shadow: true, remaining: 4 },
    ratelimits: [{ name: "default" }, { name: "shared", remaining: 2 }],
  });
  await latchkey.updateIdentity({ identityId, ratelimits: [{ name: "shared", ...FIXED }] });
  expect((await latchkey.getIdentity({ identityId })).ratelimits).toEqual([
    { name: "shared", ...FIXED },
  ]);
}

/** Checks the wait that every refusal names: refused one ms before its end, and admitted at its end. */
async function sayWhenToRetry(context: TestContext) {
  for (const limit of [SLIDING, BUCKET, FIXED]) {
    const { key } = await issue(context, { ratelimit: limit });
    const verify = (cost: number) => context.latchkey.verifyKey({ key, ratelimit: { cost } });
    let refusals = 0;
    for (const [move, cost] of [
      [0, 1],
      [37, 2],
      [250, 3],
      [1, 1],
      [100, 4],
      [700, 2],
      [3, 3],
      [0, 4],
    ] as const) {
      context.advance(move);
      const verdict = await verify(cost);
      if (verdict.code !== "RATE_LIMITED") continue;
      refusals += 1;
      const wait = verdict.retryAfterMs as number;
      context.advance(wait - 1);
      if (wait > 1)
        expect(await verify(cost)).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 1 });
      context.advance(1);
      expect(await verify(cost)).toMatchObject({ code: "VALID" });
    }
    expect(refusals).toBeGreaterThan(1);
    expect(await verify(6)).not.toHaveProperty("retryAfterMs");
  }
}

async function startAnewOrGoOn(context: TestContext) {
  const { latchkey } = context;
  const { key, keyId } = await issue(context, { ratelimit: SLIDING });
  const left = async (ratelimit: Parameters<Latchkey["updateKey"]>[0]["ratelimit"]) => {
    await latchkey.updateKey({ keyId, ratelimit });
    const verdict = await latchkey.verifyKey({ key, ratelimit: { cost: 0 } });
    return "ratelimit" in verdict ? verdict.ratelimit?.remaining : undefined;
  };
  await latchkey.verifyKey({ key, ratelimit: { cost: 3 } });
  expect(await left({ ...SLIDING, limit: 10 })).toBe(7);
  expect(await left({ ...SLIDING, shadow: true })).toBe(1);
  expect(await left({ ...SLIDING, duration: SPAN + 1 })).toBe(4);
  expect(await left(BUCKET)).toBe(5);
  await latchkey.verifyKey({ key, ratelimit: { cost: 5 } });
  expect(await left({ ...BUCKET, burst: 8 })).toBe(3);
  expect(await left({ ...BUCKET, burst: 2 })).toBe(0);
  expect(await left({ ...BUCKET, limit: 2 })).toBe(0);
  // Taken units flow back at the new rate.
  context.advance(SPAN);
  expect(await left({ ...BUCKET, limit: 2 })).toBe(2);
  expect(await left(SLIDING)).toBe(4);
}

/** Keys that differ only in this may share everything else in a process's cache. */
async function areDecidedEachByItsOwn(context: TestContext) {
  const { latchkey } = context;
  const { apiId } = await latchkey.createApi({ name: "charts" });
  const kinds = [BUCKET, { ...BUCKET, burst: 2 }, { ...BUCKET, burst: 2, shadow: true }];
  const keys = await Promise.all(
    kinds.map((ratelimit) => latchkey.createKey({ apiId, ratelimit })),
  );
  const codes = async () => {
    const verdicts = [];
    for (const { key } of keys)
      verdicts.push(await latchkey.verifyKey({ key, ratelimit: { cost: 2 } }));
    return verdicts.map(({ code }) => code);
  };
  expect(await codes()).toEqual(["VALID", "VALID", "VALID"]);
  expect(await codes()).toEqual(["VALID", "RATE_LIMITED", "VALID"]);
  for (const { key } of keys) await latchkey.verifyKey({ key });
  const plain = await Promise.all(keys.map(({ key }) => latchkey.verifyKey({ key })));
  expect(plain.map(({ code }) => code)).toEqual(["RATE_LIMITED", "RATE_LIMITED", "VALID"]);
}

async function areEmptied(context: TestContext) {
  const { latchkey } = context;
  const other = context.another();
  for (const limit of [SLIDING, BUCKET, FIXED]) {
    const cost = "burst" in limit ? limit.burst : limit.limit;
    const login = { namespace: "login", identifier: "192.0.2.9", ...limit };
    expect(await latchkey.limit({ ...login, cost })).toMatchObject({ success: true, remaining: 0 });
    const { duration, ...shown } = limit;
    expect(await other.limit(login)).toMatchObject({ success: false, ...shown });
  }
  await latchkey.resetLimit({ namespace: "login", identifier: "192.0.2.9", duration: SPAN });
  for (const limit of [SLIDING, BUCKET, FIXED])
    expect(
      await other.limit({ namespace: "login", identifier: "192.0.2.9", ...limit }),
    ).toMatchObject({ success: true });
  for (const limit of [SLIDING, BUCKET]) {
    const { key, keyId } = await issue(context, { ratelimit: limit });
    const cost = "burst" in limit ? limit.burst : limit.limit;
    const question = { key, ratelimit: { cost }, ratelimits: [{ name: "once", ...limit, cost }] };
    for (const reset of [{ name: "default" }, { name: "once", duration: SPAN }]) {
      await latchkey.verifyKey(question);
      expect(await other.verifyKey(question)).toMatchObject({ code: "RATE_LIMITED" });
      await latchkey.resetLimit({ keyId, ...reset });
    }
    await latchkey.resetLimit({ keyId, name: "default" });
    expect(await other.verifyKey(question)).toMatchObject({ code: "VALID" });
  }
}

async function tryALimit(context: TestContext) {
  const { latchkey } = context;
  const events: unknown[] = [];
  const watched = context.another({ onEvent: (event) => events.push(event) });
  const ratelimits = [
    {
      name: "tried",
      limit: 1,
      duration: SPAN,
      algorithm: "sliding",
      shadow: true,
      autoApply: true,
    },
    { name: "real", limit: 3, duration: SPAN, algorithm: "sliding", autoApply: true },
  ] as const;
  const { key, keyId } = await issue(context, { ratelimits });
  expect(await watched.verifyKey({ key })).toMatchObject({ code: "VALID" });
  const dryRun = await watched.verifyKey({ key, dryRun: true });
  expect(dryRun).toMatchObject({ code: "VALID" });
  expect(dryRun.checks.filter(({ check }) => check === "ratelimit")).toMatchObject([
    { name: "tried", passed: true, shadow: true, exceeded: true, remaining: 0 },
    { name: "real", passed: true, remaining: 2 },
  ]);
  for (const code of ["VALID", "VALID", "RATE_LIMITED"]) {
    const verdict = await watched.verifyKey({ key });
    expect(verdict).toMatchObject({
      code,
      ratelimits: [
        { name: "tried", shadow: true, exceeded: true },
        { name: "real", exceeded: code !== "VALID" },
      ],
    });
    expect(verdict).not.toHaveProperty("ratelimits.1.shadow");
  }
  // The limit that refuses has room in 1,699 ms at most. The shadow limit does not contribute.
  const refused = await watched.verifyKey({ key, ratelimits: [{ name: "tried", cost: 9 }] });
  expect(refused).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: expect.any(Number) });
  expect(await latchkey.explainKey({ keyId })).toMatchObject({
    code: "RATE_LIMITED",
    checks: expect.arrayContaining([
      expect.objectContaining({ name: "tried", passed: true, exceeded: true }),
      expect.objectContaining({ name: "real", passed: false, retryAfterMs: expect.any(Number) }),
    ]),
  });
  const range = { start: NOON, end: NOON + 86_400_000 } as const;
  const { verifications } = await watched.getVerifications({ keyId, ...range });
  expect(verifications[0]).toMatchObject({
    success: 3,
    rateLimited: 2,
    outcomes: { VALID: 3, RATE_LIMITED: 2, SHADOW_LIMITED: 4 },
  });
  const shadow = { code: "SHADOW_LIMITED", ratelimits: ["tried"] };
  expect(events).toMatchObject([
    { code: "VALID" },
    { code: "VALID", shadow },
    { code: "VALID", shadow },
    { code: "RATE_LIMITED", shadow },
    { code: "RATE_LIMITED", shadow },
  ]);
  expect(events[0]).not.toHaveProperty("shadow");
  const login = { identifier: "192.0.2.11", limit: 1, duration: SPAN, shadow: true };
  expect(await latchkey.limit(login)).toMatchObject({ success: true, exceeded: false });
  expect(await latchkey.limit(login)).toMatchObject({
    success: true,
    exceeded: true,
    shadow: true,
  });
}

async function repeatAnAnswer(context: TestContext) {
  const ratelimits = [
    { name: "tried", ...SLIDING, limit: 1, shadow: true, autoApply: true },
    { name: "real", ...BUCKET, limit: 7, burst: 2, autoApply: true },
  ];
  const { key } = await issue(context, { ratelimits });
  const ask = (process: Latchkey, requestId: string) => process.verifyKey({ key, requestId });
  const answers = [];
  for (const id of ["a", "b", "c"]) answers.push(await ask(context.latchkey, id));
  expect(answers.map(({ code }) => code)).toEqual(["VALID", "VALID", "RATE_LIMITED"]);
  const other = context.another();
  for (const [at, id] of ["a", "b", "c"].entries())
    expect(await ask(other, id)).toEqual(answers[at]);
  const made = [{ name: "made", ...BUCKET }];
  await other.verifyKey({ key, ratelimits: [...made, { name: "real", cost: 0 }], requestId: "d" });
  for (const other of [{ algorithm: "sliding", burst: undefined }, { burst: 6 }, { shadow: true }])
    await expectRefused("CONFLICT", [
      context.latchkey.verifyKey({
        key,
        ratelimits: [
          { ...made[0], ...other },
          { name: "real", cost: 0 },
        ] as typeof made,
        requestId: "d",
      }),
    ]);
}

async function outliveRotation(context: TestContext) {
  const { latchkey } = context;
  const ratelimits = [
    { name: "sliding", ...SLIDING, autoApply: true },
    { name: "bucket", ...BUCKET, autoApply: true },
  ];
  const { key, keyId } = await issue(context, { ratelimits });
  const costs = ratelimits.map(({ name }) => ({ name, cost: 3 }));
  await latchkey.verifyKey({ key, ratelimits: costs });
  const { key: next } = await latchkey.rotateKey({ keyId, graceMs: 60_000 });
  expect(await context.another().verifyKey({ key: next })).toMatchObject({
    code: "VALID",
    ratelimits: [{ remaining: 0 }, { remaining: 1 }],
  });
  expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "RATE_LIMITED" });
}

async function refuseBadFigures(context: TestContext) {
  const { latchkey } = context;
  const { key, keyId, apiId } = await issue(context, { ratelimit: SLIDING });
  const { identityId } = await latchkey.createIdentity({ externalId: "jetty" });
  const most = Number.MAX_SAFE_INTEGER;
  const bad: readonly (readonly [string, RegExp, object])[] = [
    ["burst", /token-bucket/, { ...SLIDING, burst: 4 }],
    ["burst", /token-bucket/, { ...FIXED, burst: 4 }],
    ["burst", /9007199254740991/, { ...BUCKET, burst: 2 ** 43 }],
    ["limit", /9007199254740991/, { limit: most, duration: 1, algorithm: "token-bucket" }],
    ["burst", /whole number/, { ...BUCKET, burst: 0 }],
    ["duration", /2\^52/, { ...SLIDING, duration: 2 ** 52 + 1 }],
    ["algorithm", /sliding/, { ...FIXED, algorithm: "leaky" }],
    ["shadow", /true or false|boolean/, { ...FIXED, shadow: "yes" }],
  ];
  for (const [field, bound, given] of bad) {
    const limit = given as typeof FIXED & { algorithm: LimitAlgorithm };
    const named = [{ name: "n", ...limit }];
    const calls: readonly (readonly [string, Promise<unknown>])[] = [
      [`ratelimit.${field}`, latchkey.createKey({ apiId, ratelimit: limit })],
      [`ratelimits.0.${field}`, latchkey.createKey({ apiId, ratelimits: named })],
      [`ratelimit.${field}`, latchkey.updateKey({ keyId, ratelimit: limit })],
      [`ratelimits.0.${field}`, latchkey.updateKey({ keyId, ratelimits: named })],
      [`ratelimits.0.${field}`, latchkey.createIdentity({ externalId: "none", ratelimits: named })],
      [`ratelimits.0.${field}`, latchkey.updateIdentity({ identityId, ratelimits: named })],
      [`ratelimits.0.${field}`, latchkey.verifyKey({ key, ratelimits: named })],
      [field, latchkey.limit({ identifier: "a", ...limit })],
    ];
    await Promise.all(
      calls.map(async ([path, call]) => {
        const error = await rejectionOf(call);
        expect(error).toMatchObject({ code: "BAD_REQUEST" });
        const issues = error.issues as readonly { path: string; message: string }[];
        expect(issues.find((issue) => issue.path === path)?.message).toMatch(bound);
      }),
    );
  }
  expect((await latchkey.listKeys({ apiId })).total).toBe(1);
  expect((await latchkey.getKey({ keyId })).ratelimit).toMatchObject(SLIDING);
  expect((await latchkey.getIdentity({ identityId })).ratelimits).toEqual([]);
  await expectRefused("NOT_FOUND", [latchkey.getIdentity({ externalId: "none" })]);
  expect(() => latchkey.verifier({ ratelimits: [{ name: "n", ...SLIDING, burst: 1 }] })).toThrow(
    /burst/,
  );
  const ask = latchkey.verifier({ ratelimits: [{ name: "n", ...BUCKET, shadow: true }] });
  expect(await ask(key, { ratelimits: [{ name: "n", cost: 9 }] })).toMatchObject({
    code: "VALID",
    ratelimits: [{ name: "default" }, { name: "n", ...BUCKET, shadow: true, exceeded: true }],
  });
}
