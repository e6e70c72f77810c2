import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, issue, NOON, type TestContext } from "../test-context.js";

const DAILY = { interval: "daily", amount: 5 } as const;
const MIDNIGHT = NOON + DAY_MS / 2;
const YEAR_MS = 365 * DAY_MS;

describeOnMemory("refills", (open) => {
  async function shownOf({ latchkey }: TestContext, keyId: string) {
    const { remaining, refill } = await latchkey.getKey({ keyId });
    return [remaining, refill?.lastRefillAt];
  }

  test("have no lastRefillAt before the first one", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { remaining: 3, refill: DAILY });
    expect(await shownOf(context, keyId)).toEqual([3, undefined]);
    context.setClock(MIDNIGHT - 1);
    await context.latchkey.verifyKey({ key });
    expect(await shownOf(context, keyId)).toEqual([2, undefined]);
    context.setClock(MIDNIGHT);
    await context.latchkey.verifyKey({ key });
    expect(await shownOf(context, keyId)).toEqual([4, MIDNIGHT]);
  });

  test("are different from setting remaining, which does not change lastRefillAt", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context, { remaining: 1, refill: DAILY });
    await latchkey.updateRemaining({ keyId, op: "set", value: 2 });
    expect(await shownOf(context, keyId)).toEqual([2, undefined]);
    context.setClock(MIDNIGHT);
    await latchkey.verifyKey({ key });
    context.setClock(MIDNIGHT + 1);
    await latchkey.updateRemaining({ keyId, op: "set", value: 9 });
    expect(await shownOf(context, keyId)).toEqual([9, MIDNIGHT]);
    await latchkey.updateRemaining({ keyId, op: "increment", value: 1 });
    await latchkey.updateKey({ keyId, remaining: 8 });
    await latchkey.updateKey({ keyId, refill: { ...DAILY, amount: 20 } });
    expect(await shownOf(context, keyId)).toEqual([8, MIDNIGHT]);
  });

  test("of an identity show lastRefillAt, and setting remaining does not change it", async () => {
    const context = open();
    const { latchkey } = context;
    const uses = { externalId: "team", remaining: 1, refill: DAILY };
    const { identityId } = await latchkey.createIdentity(uses);
    const lastRefillAt = async () =>
      (await latchkey.getIdentity({ identityId })).refill?.lastRefillAt;
    await latchkey.updateIdentity({ identityId, remaining: 3 });
    expect(await lastRefillAt()).toBeUndefined();
    context.setClock(MIDNIGHT);
    expect(await lastRefillAt()).toBe(MIDNIGHT);
    context.setClock(MIDNIGHT + 1);
    await latchkey.updateIdentity({ identityId, remaining: 2 });
    expect(await lastRefillAt()).toBe(MIDNIGHT);
  });

  test.each([
    ["remaining", { remaining: 1 }],
    ["refill", { refill: DAILY }],
  ])("that a wrong clock put ahead restart from now once %s is set", async (_, setting) => {
    const context = open();
    const { key, keyId } = await issue(context, { remaining: 1, refill: DAILY });
    const ahead = context.another({ clock: () => NOON + YEAR_MS });
    expect(await ahead.verifyKey({ key })).toMatchObject({ valid: true, remaining: 4 });
    await context.latchkey.updateRemaining({ keyId, op: "decrement", value: 4 });
    context.setClock(MIDNIGHT);
    expect(await context.another().verifyKey({ key })).toMatchObject({ code: "USAGE_EXCEEDED" });
    const mending = context.another();
    await mending.updateKey({ keyId, ...setting });
    expect((await mending.getKey({ keyId })).refill).toEqual(DAILY);
    context.advance(DAY_MS);
    expect(await mending.verifyKey({ key })).toMatchObject({ valid: true, remaining: 4 });
    expect(await shownOf(context, keyId)).toEqual([4, MIDNIGHT + DAY_MS]);
  });

  test("of an identity that a wrong clock put ahead restart from now once remaining is set", async () => {
    const context = open();
    const { latchkey } = context;
    const uses = { externalId: "team", remaining: 1, refill: DAILY };
    const { identityId } = await latchkey.createIdentity(uses);
    const { key } = await issue(context, { externalId: "team", usesFrom: "identity" });
    await context.another({ clock: () => NOON + YEAR_MS }).verifyKey({ key });
    await latchkey.updateIdentity({ identityId, remaining: 0 });
    context.setClock(MIDNIGHT);
    expect(await context.another().verifyKey({ key })).toMatchObject({ valid: true, remaining: 4 });
  });
});
