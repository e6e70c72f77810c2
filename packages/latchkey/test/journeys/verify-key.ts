import { expect } from "vitest";
import { DAY_MS, expectRefused, HOUR_MS, issue, NOON, type TestContext } from "../test-context.js";
import type { Journey } from "./journey.js";

/** verifyKey, explainKey. */
export const VERIFY_KEY: Journey = {
  resource: "a verification",
  title:
    "names the first check that fails, charges all or nothing, and admits exactly what is left",
  async run(context) {
    await nameTheFirstThatFails(context);
    await chargeAllOrNothing(context);
    await admitExactlyWhatIsLeft(context);
    await replayARequest(context);
  },
};

async function nameTheFirstThatFails(context: TestContext) {
  const { latchkey } = context;
  const other = context.another();
  const { apiId, keyId, key } = await issue(context, {
    expires: NOON + 1_000,
    remaining: 9,
    ratelimit: { limit: 5, duration: HOUR_MS },
  });
  const everything = {
    key,
    apiId,
    authorization: { permissions: "tides.read" },
    ratelimit: { cost: 6 },
    remaining: { cost: 10 },
  };
  const codes = async () => {
    const { code, checks } = await other.verifyKey({ ...everything, dryRun: true });
    expect((await other.verifyKey(everything)).code).toBe(code);
    return [code, checks.filter(({ passed }) => !passed).length];
  };
  expect(await codes()).toEqual(["INSUFFICIENT_PERMISSIONS", 3]);
  const permission = { name: "tides.read", create: true } as const;
  await latchkey.updateKey({ keyId, permissions: [permission] });
  expect(await codes()).toEqual(["RATE_LIMITED", 2]);
  await latchkey.updateKey({ keyId, ratelimit: null });
  const { ratelimit: _, ...rest } = everything;
  expect(await other.verifyKey(rest)).toMatchObject({ code: "USAGE_EXCEEDED", remaining: 9 });
  await latchkey.updateKey({ keyId, remaining: 10 });
  expect(await other.verifyKey(rest)).toMatchObject({ code: "VALID", remaining: 0 });
  expect(await other.verifyKey({ key, apiId: "api_other" })).toMatchObject({ code: "FORBIDDEN" });
  context.setClock(NOON + 999);
  expect((await other.verifyKey({ key })).code).toBe("USAGE_EXCEEDED");
  context.setClock(NOON + 1_000);
  expect((await other.verifyKey({ key })).code).toBe("EXPIRED");
  await latchkey.updateKey({ keyId, enabled: false });
  expect((await other.verifyKey({ key })).code).toBe("DISABLED");
  await latchkey.deleteKey({ keyId });
  expect(await other.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
}

async function chargeAllOrNothing(context: TestContext) {
  const { latchkey } = context;
  const other = context.another();
  await latchkey.createIdentity({
    externalId: "pier-7",
    ratelimits: [
      { name: "reads", limit: 10, duration: HOUR_MS },
      { name: "writes", limit: 1, duration: HOUR_MS },
    ],
  });
  const { key, keyId } = await issue(context, { externalId: "pier-7", remaining: 3 });
  expect(await other.explainKey({ keyId, remaining: { cost: 4 } })).toMatchObject({
    code: "USAGE_EXCEEDED",
    checks: expect.arrayContaining([expect.objectContaining({ check: "uses", passed: false })]),
  });
  expect(await other.explainKey({ keyId })).toMatchObject({ code: "VALID" });
  await expectRefused("NOT_FOUND", [other.explainKey({ keyId: "key_none" })]);
  const ratelimits = [{ name: "reads" }, { name: "writes" }];
  expect(await other.verifyKey({ key, ratelimits })).toMatchObject({ valid: true, remaining: 2 });
  expect(await latchkey.verifyKey({ key, ratelimits })).toMatchObject({
    code: "RATE_LIMITED",
    remaining: 2,
    ratelimits: [
      { name: "reads", remaining: 9, exceeded: false },
      { name: "writes", remaining: 0, exceeded: true },
    ],
  });
  const tooMuch = { key, ratelimits: [{ name: "reads" }], remaining: { cost: 3 } };
  expect(await other.verifyKey(tooMuch)).toMatchObject({
    code: "USAGE_EXCEEDED",
    ratelimits: [{ name: "reads", remaining: 9 }],
  });
  const unknown = other.verifyKey({ key, ratelimits: [{ name: "nothing" }] });
  await expectRefused("BAD_REQUEST", [unknown]);
  expect(await other.getKey({ keyId })).toMatchObject({ remaining: 2 });
}

async function admitExactlyWhatIsLeft(context: TestContext) {
  const other = context.another();
  const refill = { interval: "daily", amount: 5 } as const;
  const { key } = await issue(context, { remaining: 37, refill });
  const admitted = async () => {
    const verdicts = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        (at % 2 === 0 ? context.latchkey : other).verifyKey({ key }),
      ),
    );
    return verdicts.filter(({ valid }) => valid).length;
  };
  expect(await admitted()).toBe(37);
  context.setClock(NOON + DAY_MS / 2 - 1);
  expect(await admitted()).toBe(0);
  context.setClock(NOON + DAY_MS / 2);
  expect(await admitted()).toBe(5);
}

async function replayARequest(context: TestContext) {
  const { latchkey } = context;
  const { key, keyId } = await issue(context, { remaining: 2 });
  const first = await latchkey.verifyKey({ key, requestId: "retry-1" });
  expect(await context.another().verifyKey({ key, requestId: "retry-1" })).toEqual(first);
  expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 1 });
  const reused = latchkey.verifyKey({ key, requestId: "retry-1", remaining: { cost: 2 } });
  await expectRefused("CONFLICT", [reused]);
}
