import type { StatisticsSubject } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { reserve, uses } from "./reserving.js";
import { DAY_MS, issue, NOON, type TestContext } from "./test-context.js";

/** Counted uses of a subject beyond one for each verification. */
async function extraUses({ store }: TestContext, kind: StatisticsSubject["kind"], id: string) {
  const range = { startAt: 0, endAt: NOON + 10 * DAY_MS };
  const sums = await store.readStatistics("ws_default", { subject: { kind, id }, ...range });
  return sums.reduce((sum, { code, count }) => sum + (code === "EXTRA_USES" ? count : 0), 0);
}

/** Settling in the process that reserved, and in another one. */
const BY = ["the process that made it", "another process"] as const;

describeOnEveryStore("a reservation whose key has changed", (open) => {
  const openShared = async (durable: boolean) => {
    const context = open({ usage: { durable } });
    const { latchkey } = context;
    const refill = { interval: "daily", amount: 100 } as const;
    const [before, after] = [
      await latchkey.createIdentity({ externalId: "pier-3", remaining: 100, refill }),
      await latchkey.createIdentity({ externalId: "pier-4", remaining: 7 }),
    ];
    const issued = await issue(context, { externalId: "pier-3", usesFrom: "identity" });
    const settledBy = (by: (typeof BY)[number]) =>
      by === BY[0] ? latchkey : context.another({ usage: { durable } });
    return {
      ...{ context, latchkey, settledBy },
      ...{ ...issued, before: before.identityId, after: after.identityId },
    };
  };

  test.each(BY)(
    "is counted for the identity whose uses it took, and returns how many are left there: %s",
    async (by) => {
      const { context, latchkey, settledBy, key, keyId, apiId, before, after } =
        await openShared(true);
      const reservationId = await reserve(latchkey, { key, ttl: "24h", ...uses(50) });
      await latchkey.updateKey({ keyId, externalId: "pier-4" });
      context.advance(DAY_MS / 2);
      const settled = await settledBy(by).settle({ reservationId, ...uses(40) });
      // A refill is due since the day has ended, so all hundred are left.
      expect(settled).toEqual({ remaining: 100, taken: { uses: 40, ratelimits: [] } });
      const counted = [];
      for (const [kind, id] of [
        ["identity", before],
        ["identity", after],
        ["key", keyId],
        ["api", apiId],
      ] as const)
        counted.push(await extraUses(context, kind, id));
      expect(counted).toEqual([40, 0, 40, 40]);
    },
  );

  test.each([true, false])(
    "by rotation and deletion is still counted for its identity: durable %s",
    async (durable) => {
      const { context, latchkey, settledBy, key, keyId, before } = await openShared(durable);
      const reservationId = await reserve(latchkey, { key, ...uses(50) });
      await latchkey.rotateKey({ keyId, graceMs: "1h" });
      await latchkey.deleteKey({ keyId });
      const settled = await settledBy(BY[1]).settle({ reservationId, ...uses(40) });
      expect(settled.taken.uses).toBe(40);
      expect(await extraUses(context, "identity", before)).toBe(40);
      expect(await settledBy(BY[1]).settle({ reservationId, ...uses(40) })).toEqual(settled);
      expect(await extraUses(context, "identity", before)).toBe(40);
    },
  );

  test.each(BY)("because its identity was deleted returns no uses left: %s", async (by) => {
    const { latchkey, settledBy, key, before } = await openShared(true);
    const reservationId = await reserve(latchkey, { key, ...uses(50) });
    await latchkey.deleteIdentity({ identityId: before });
    const settled = await settledBy(by).settle({ reservationId, ...uses(40) });
    expect(settled).toEqual({ remaining: 0, taken: { uses: 40, ratelimits: [] } });
    expect((await latchkey.verifyKey({ key })).code).toBe("USAGE_EXCEEDED");
  });

  test.each(BY)("to unlimited uses returns that: %s", async (by) => {
    const { latchkey, settledBy, key, before } = await openShared(true);
    const reservationId = await reserve(latchkey, { key, ...uses(50) });
    await latchkey.updateIdentity({ identityId: before, remaining: null });
    const settled = await settledBy(by).settle({ reservationId, ...uses(40) });
    expect(settled).toEqual({ remaining: null, taken: { uses: 40, ratelimits: [] } });
  });
});
