import { expect, test } from "vitest";
import { MIDNIGHT, team } from "../team.js";
import { DAY_MS, describeOnMemory, HOUR_MS } from "../test-context.js";

describeOnMemory("uses that the keys of an identity share", (open) => {
  test("every key takes from the same number, and each verdict says how many are left", async () => {
    const context = open();
    const { latchkey } = context;
    const { one, two, identityId } = await team(context);
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      code: "VALID",
      remaining: 4,
    });
    expect(await latchkey.verifyKey({ key: two.key })).toMatchObject({
      code: "VALID",
      remaining: 3,
    });
    const spent = await context.another().verifyKey({ key: one.key, remaining: { cost: 3 } });
    expect(spent).toMatchObject({ code: "VALID", remaining: 0, enabled: true });
    for (const { key } of [one, two]) {
      expect(await latchkey.verifyKey({ key })).toMatchObject({
        code: "USAGE_EXCEEDED",
        remaining: 0,
        enabled: false,
      });
    }
    expect((await latchkey.getIdentity({ identityId })).remaining).toBe(0);
  });

  test("a cost above the remaining uses is refused, and takes nothing", async () => {
    const context = open();
    const { one, two } = await team(context, { remaining: 2 });
    const expensive = await context.latchkey.verifyKey({ key: one.key, remaining: { cost: 3 } });
    expect(expensive).toMatchObject({ code: "USAGE_EXCEEDED", remaining: 2, enabled: true });
    const exact = await context.latchkey.verifyKey({ key: two.key, remaining: { cost: 2 } });
    expect(exact).toMatchObject({ code: "VALID", remaining: 0 });
  });

  test("a key refused by its rate limit takes nothing from the shared uses", async () => {
    const context = open();
    const { latchkey } = context;
    const { one } = await team(context);
    const ratelimit = { limit: 1, duration: DAY_MS };
    await latchkey.updateKey({ keyId: one.keyId, ratelimit });
    await latchkey.verifyKey({ key: one.key });
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      code: "RATE_LIMITED",
      remaining: 4,
    });
  });

  test("exactly k of N concurrent verifications are admitted over several keys and processes", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, identityId, one, two } = await team(context, { remaining: 31 });
    const three = await latchkey.createKey({ apiId, externalId: "team", usesFrom: "identity" });
    const keys = [one, two, three];
    const processes = [latchkey, context.another()];
    const verdicts = await Promise.all(
      Array.from({ length: 90 }, (_, at) =>
        processes[at % 2]?.verifyKey({ key: keys[at % 3]?.key as string }),
      ),
    );
    const valid = verdicts.filter((verdict) => verdict?.valid === true);
    expect(valid).toHaveLength(31);
    expect(verdicts.filter((verdict) => verdict?.code === "USAGE_EXCEEDED")).toHaveLength(59);
    expect((await latchkey.getIdentity({ identityId })).remaining).toBe(0);
  });

  test("a repeated request is charged once", async () => {
    const context = open();
    const { one } = await team(context);
    const ask = () => context.latchkey.verifyKey({ key: one.key, requestId: "req-1" });
    expect([await ask(), await ask()]).toMatchObject([{ remaining: 4 }, { remaining: 4 }]);
    expect((await context.latchkey.getIdentity({ externalId: "team" })).remaining).toBe(4);
  });

  test("a refill of the identity restores them for all keys, at the instant it is due", async () => {
    const context = open();
    const { latchkey } = context;
    const refill = { interval: "daily", amount: 3 } as const;
    const { one, two, identityId } = await team(context, { remaining: 1, refill });
    await latchkey.verifyKey({ key: one.key });
    context.setClock(MIDNIGHT - 1);
    expect((await latchkey.verifyKey({ key: two.key })).code).toBe("USAGE_EXCEEDED");
    context.setClock(MIDNIGHT);
    expect((await latchkey.getIdentity({ identityId })).remaining).toBe(3);
    expect((await latchkey.getKey({ keyId: two.keyId })).remaining).toBe(3);
    expect(await latchkey.verifyKey({ key: two.key })).toMatchObject({
      code: "VALID",
      remaining: 2,
    });
    expect(await latchkey.getIdentity({ identityId })).toMatchObject({
      remaining: 2,
      refill: { ...refill, lastRefillAt: MIDNIGHT },
    });
  });

  test("listings and getIdentity show the shared uses and their owner", async () => {
    const context = open();
    const { latchkey } = context;
    const refill = { interval: "monthly", amount: 9, refillDay: 31 } as const;
    const { apiId, identityId, one } = await team(context, { remaining: 5, refill });
    await latchkey.verifyKey({ key: one.key });
    const shown = { remaining: 4, refill };
    expect(await latchkey.getIdentity({ identityId })).toMatchObject(shown);
    const { keys } = await latchkey.listKeys({ apiId });
    expect(keys).toMatchObject([
      { ...shown, usesFrom: "identity", enabled: true },
      { ...shown, usesFrom: "identity", enabled: true },
    ]);
    const own = await latchkey.createKey({ apiId, externalId: "team", remaining: 7 });
    const listed = await latchkey.getKey({ keyId: own.keyId });
    expect(listed.remaining).toBe(7);
    expect("usesFrom" in listed || "refill" in listed).toBe(false);
  });

  test("enabled in a list is false while no shared uses are left", async () => {
    const context = open();
    const { latchkey } = context;
    const { one, two, identityId } = await team(context, { remaining: 1 });
    await latchkey.verifyKey({ key: one.key });
    const enabled = async () => (await latchkey.getKey({ keyId: two.keyId })).enabled;
    expect(await enabled()).toBe(false);
    await latchkey.updateIdentity({ identityId, remaining: 1 });
    expect(await enabled()).toBe(true);
    await latchkey.updateIdentity({ identityId, remaining: null });
    expect(await enabled()).toBe(true);
  });

  test("an identity without a number of uses leaves its keys unlimited", async () => {
    const context = open();
    const { latchkey } = context;
    const { one } = await team(context, {});
    const verdict = await latchkey.verifyKey({ key: one.key });
    expect(verdict.code).toBe("VALID");
    expect("remaining" in verdict).toBe(false);
    expect("remaining" in (await latchkey.getIdentity({ externalId: "team" }))).toBe(false);
  });

  test("a key whose identity is deleted has no uses, never unlimited ones", async () => {
    const context = open();
    const { latchkey } = context;
    for (const uses of [{ remaining: 5 }, {}]) {
      const { one, identityId } = await team(context, uses);
      const other = context.another();
      expect((await other.verifyKey({ key: one.key })).code).toBe("VALID");
      await latchkey.deleteIdentity({ identityId });
      for (const cost of [0, 1])
        expect(await other.verifyKey({ key: one.key, remaining: { cost } })).toMatchObject({
          code: "USAGE_EXCEEDED",
          remaining: 0,
          enabled: false,
        });
      expect(await latchkey.getKey({ keyId: one.keyId })).toMatchObject({
        remaining: 0,
        enabled: false,
        usesFrom: "identity",
      });
      // A new identity with the same externalId does not revive it, either.
      const again = await latchkey.createIdentity({ externalId: "team", remaining: 9 });
      expect((await other.verifyKey({ key: one.key })).code).toBe("USAGE_EXCEEDED");
      await latchkey.deleteIdentity(again);
    }
  });

  test("such a key is revived by another identity, or by its own uses", async () => {
    const context = open();
    const { latchkey } = context;
    const { one, two, identityId } = await team(context);
    await latchkey.deleteIdentity({ identityId });
    await latchkey.createIdentity({ externalId: "other team", remaining: 2 });
    await latchkey.updateKey({ keyId: one.keyId, externalId: "other team" });
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      code: "VALID",
      remaining: 1,
    });
    await latchkey.updateKey({ keyId: two.keyId, usesFrom: "key", remaining: 2 });
    expect(await latchkey.verifyKey({ key: two.key })).toMatchObject({
      code: "VALID",
      remaining: 1,
    });
  });

  test("a key moved to another identity draws from that one's uses", async () => {
    const context = open();
    const { latchkey } = context;
    const { one } = await team(context, { remaining: 1 });
    await latchkey.createIdentity({ externalId: "other team", remaining: 8 });
    await latchkey.updateKey({ keyId: one.keyId, externalId: "other team" });
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      remaining: 7,
      ownerId: "other team",
    });
    expect((await latchkey.getIdentity({ externalId: "team" })).remaining).toBe(1);
  });

  test("the own count of a key does not change meanwhile, and then continues", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await team(context, { remaining: 5 });
    const { keyId, key } = await latchkey.createKey({ apiId, externalId: "team", remaining: 9 });
    await latchkey.verifyKey({ key });
    await latchkey.updateKey({ keyId, usesFrom: "identity" });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ remaining: 4 });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ remaining: 3 });
    await latchkey.updateKey({ keyId, usesFrom: "key" });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ remaining: 7 });
    expect((await latchkey.getIdentity({ externalId: "team" })).remaining).toBe(3);
  });

  test("the successor of a rotated key draws from the identity too", async () => {
    const context = open();
    const { latchkey } = context;
    const { one, two } = await team(context, { remaining: 4 });
    const next = await latchkey.rotateKey({ keyId: one.keyId, graceMs: HOUR_MS });
    const left = [];
    for (const { key } of [one, next, two]) {
      const verdict = await latchkey.verifyKey({ key });
      left.push("remaining" in verdict && verdict.remaining);
    }
    expect(left).toEqual([3, 2, 1]);
  });
});
