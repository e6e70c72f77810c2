import { expect, test } from "vitest";
import {
  DAY_MS,
  describeOnEveryStore,
  HOUR_MS,
  NOON,
  rejectionOf,
  type TestBed,
} from "../every-store.js";

const MIDNIGHT = NOON + 12 * HOUR_MS;

type Uses = Pick<
  Parameters<TestBed["latchkey"]["createIdentity"]>[0],
  "remaining" | "refill" | "ratelimits"
>;

/** An identity with uses, and two keys that draw from them. */
async function team({ latchkey }: TestBed, uses: Uses = { remaining: 5 }) {
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { identityId } = await latchkey.createIdentity({ externalId: "team", ...uses });
  const fields = { apiId, externalId: "team", usesFrom: "identity" } as const;
  const one = await latchkey.createKey(fields);
  const two = await latchkey.createKey(fields);
  return { apiId, identityId, one, two };
}

describeOnEveryStore("uses that the keys of an identity share", (open) => {
  test("every key takes from the one number, and each verdict says what is left of it", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { one, two, identityId } = await team(bed);
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      code: "VALID",
      remaining: 4,
    });
    expect(await latchkey.verifyKey({ key: two.key })).toMatchObject({
      code: "VALID",
      remaining: 3,
    });
    const spent = await bed.another().verifyKey({ key: one.key, remaining: { cost: 3 } });
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

  test("a cost above what is left is refused and takes nothing", async () => {
    const bed = open();
    const { one, two } = await team(bed, { remaining: 2 });
    const dear = await bed.latchkey.verifyKey({ key: one.key, remaining: { cost: 3 } });
    expect(dear).toMatchObject({ code: "USAGE_EXCEEDED", remaining: 2, enabled: true });
    const exact = await bed.latchkey.verifyKey({ key: two.key, remaining: { cost: 2 } });
    expect(exact).toMatchObject({ code: "VALID", remaining: 0 });
  });

  test("a key refused by its rate limit takes nothing from the shared uses", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { one } = await team(bed);
    const ratelimit = { limit: 1, duration: DAY_MS };
    await latchkey.updateKey({ keyId: one.keyId, ratelimit });
    await latchkey.verifyKey({ key: one.key });
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      code: "RATE_LIMITED",
      remaining: 4,
    });
  });

  test("exactly k of N concurrent verifications are admitted over several keys and processes", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { apiId, identityId, one, two } = await team(bed, { remaining: 31 });
    const three = await latchkey.createKey({ apiId, externalId: "team", usesFrom: "identity" });
    const keys = [one, two, three];
    const processes = [latchkey, bed.another()];
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
    const bed = open();
    const { one } = await team(bed);
    const ask = () => bed.latchkey.verifyKey({ key: one.key, requestId: "req-1" });
    expect([await ask(), await ask()]).toMatchObject([{ remaining: 4 }, { remaining: 4 }]);
    expect((await bed.latchkey.getIdentity({ externalId: "team" })).remaining).toBe(4);
  });

  test("a refill of the identity restores them for all keys, at the instant it falls due", async () => {
    const bed = open();
    const { latchkey } = bed;
    const refill = { interval: "daily", amount: 3 } as const;
    const { one, two, identityId } = await team(bed, { remaining: 1, refill });
    await latchkey.verifyKey({ key: one.key });
    bed.setClock(MIDNIGHT - 1);
    expect((await latchkey.verifyKey({ key: two.key })).code).toBe("USAGE_EXCEEDED");
    bed.setClock(MIDNIGHT);
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

  test("listings and getIdentity show the shared uses, and whose they are", async () => {
    const bed = open();
    const { latchkey } = bed;
    const refill = { interval: "monthly", amount: 9, refillDay: 31 } as const;
    const { apiId, identityId, one } = await team(bed, { remaining: 5, refill });
    await latchkey.verifyKey({ key: one.key });
    const shown = { remaining: 4, refill: { ...refill, lastRefillAt: NOON } };
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

  test("enabled in a list is false while the shared uses are gone", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { one, two, identityId } = await team(bed, { remaining: 1 });
    await latchkey.verifyKey({ key: one.key });
    const enabled = async () => (await latchkey.getKey({ keyId: two.keyId })).enabled;
    expect(await enabled()).toBe(false);
    await latchkey.updateIdentity({ identityId, remaining: 1 });
    expect(await enabled()).toBe(true);
    await latchkey.updateIdentity({ identityId, remaining: null });
    expect(await enabled()).toBe(true);
  });

  test("an identity without a number of uses leaves its keys unlimited", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { one } = await team(bed, {});
    const verdict = await latchkey.verifyKey({ key: one.key });
    expect(verdict.code).toBe("VALID");
    expect("remaining" in verdict).toBe(false);
    expect("remaining" in (await latchkey.getIdentity({ externalId: "team" }))).toBe(false);
  });

  test("a key whose identity is deleted has no uses, never unlimited ones", async () => {
    const bed = open();
    const { latchkey } = bed;
    for (const uses of [{ remaining: 5 }, {}]) {
      const { one, identityId } = await team(bed, uses);
      const other = bed.another();
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
      // Nor does a new identity of the same externalId bring it back.
      const again = await latchkey.createIdentity({ externalId: "team", remaining: 9 });
      expect((await other.verifyKey({ key: one.key })).code).toBe("USAGE_EXCEEDED");
      await latchkey.deleteIdentity(again);
    }
  });

  test("such a key is brought back by another identity, or by uses of its own", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { one, two, identityId } = await team(bed);
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
    const bed = open();
    const { latchkey } = bed;
    const { one } = await team(bed, { remaining: 1 });
    await latchkey.createIdentity({ externalId: "other team", remaining: 8 });
    await latchkey.updateKey({ keyId: one.keyId, externalId: "other team" });
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      remaining: 7,
      ownerId: "other team",
    });
    expect((await latchkey.getIdentity({ externalId: "team" })).remaining).toBe(1);
  });

  test("a key's own count is at rest meanwhile, and goes on where it was", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { apiId } = await team(bed, { remaining: 5 });
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
    const bed = open();
    const { latchkey } = bed;
    const { one, two } = await team(bed, { remaining: 4 });
    const next = await latchkey.rotateKey({ keyId: one.keyId, graceMs: HOUR_MS });
    const left = [];
    for (const { key } of [one, next, two]) {
      const verdict = await latchkey.verifyKey({ key });
      left.push("remaining" in verdict && verdict.remaining);
    }
    expect(left).toEqual([3, 2, 1]);
  });
});

describeOnEveryStore("setting shared uses", (open) => {
  test("updateIdentity sets, clears and leaves them; null takes away the refill too", async () => {
    const bed = open();
    const { latchkey } = bed;
    const refill = { interval: "daily", amount: 3 } as const;
    const { identityId, one } = await team(bed, { remaining: 5, refill });
    await latchkey.verifyKey({ key: one.key });
    const untouched = await latchkey.updateIdentity({ identityId, meta: { berth: 4 } });
    expect(untouched).toMatchObject({ remaining: 4, refill });
    expect(await latchkey.updateIdentity({ identityId, remaining: 0 })).toMatchObject({
      remaining: 0,
    });
    expect((await latchkey.verifyKey({ key: one.key })).code).toBe("USAGE_EXCEEDED");
    const unlimited = await latchkey.updateIdentity({ identityId, remaining: null });
    expect("remaining" in unlimited || "refill" in unlimited).toBe(false);
    expect(await latchkey.getIdentity({ identityId })).toEqual(unlimited);
    const error = await rejectionOf(latchkey.updateIdentity({ identityId, refill }));
    expect(error.issues).toEqual([{ path: "refill", message: "needs remaining" }]);
    const again = await latchkey.updateIdentity({ identityId, remaining: 2, refill });
    expect(again).toMatchObject({ remaining: 2, refill });
    expect("refill" in (await latchkey.updateIdentity({ identityId, refill: null }))).toBe(false);
  });

  test("a refill given later starts from then: what would have fallen due before is not owed", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { identityId } = await team(bed, { remaining: 1 });
    bed.setClock(MIDNIGHT + HOUR_MS);
    const refill = { interval: "daily", amount: 50 } as const;
    expect((await latchkey.updateIdentity({ identityId, refill })).remaining).toBe(1);
    bed.setClock(MIDNIGHT + DAY_MS);
    expect((await latchkey.getIdentity({ identityId })).remaining).toBe(50);
  });

  test("a refill that fell due before its amount is changed is settled by the old amount", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { identityId } = await team(bed, {
      remaining: 1,
      refill: { interval: "daily", amount: 10 },
    });
    bed.setClock(MIDNIGHT);
    const refill = { interval: "daily", amount: 50 } as const;
    expect((await latchkey.updateIdentity({ identityId, refill })).remaining).toBe(10);
  });

  test("createIdentity takes 1 and more, a refill needs remaining, and both are said beside other issues", async () => {
    const { latchkey } = open();
    const refill = { interval: "daily", amount: 1 } as const;
    for (const remaining of [0, -1, 1.5, null, "1"]) {
      const call = latchkey.createIdentity({ externalId: "x", remaining } as never);
      expect((await rejectionOf(call)).issues).toEqual([
        { path: "remaining", message: "must be a whole number >= 1" },
      ]);
    }
    const error = await rejectionOf(latchkey.createIdentity({ externalId: "", refill }));
    expect(error.issues).toEqual([
      { path: "externalId", message: "must be a string of 1 to 255 characters" },
      { path: "refill", message: "needs remaining" },
    ]);
    expect((await latchkey.listIdentities()).total).toBe(0);
    await latchkey.createIdentity({ externalId: "x", remaining: 1, refill });
  });

  test("updateIdentity takes 0 and more, or null", async () => {
    const bed = open();
    const { identityId } = await team(bed);
    for (const remaining of [-1, 1.5, "1"]) {
      const call = bed.latchkey.updateIdentity({ identityId, remaining } as never);
      expect((await rejectionOf(call)).issues).toEqual([
        { path: "remaining", message: "must be a whole number >= 0" },
      ]);
    }
  });

  test("a key that draws from its identity has no uses of its own to set: 412, nothing changed", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { one } = await team(bed);
    const { keyId } = one;
    const refill = { interval: "daily", amount: 1 } as const;
    for (const call of [
      () => latchkey.updateRemaining({ keyId, op: "set", value: 9 }),
      () => latchkey.updateRemaining({ keyId, op: "increment", value: 9 }),
      () => latchkey.updateRemaining({ keyId, op: "decrement", value: 1 }),
      () => latchkey.updateKey({ keyId, remaining: 9 }),
      () => latchkey.updateKey({ keyId, remaining: null }),
      () => latchkey.updateKey({ keyId, refill }),
      () => latchkey.updateKey({ keyId, refill: null, name: "x" }),
    ])
      expect(await rejectionOf(call())).toMatchObject({ code: "PRECONDITION_FAILED" });
    const listed = await latchkey.getKey({ keyId });
    expect(listed.remaining).toBe(5);
    expect("name" in listed || "updatedAt" in listed).toBe(false);
  });

  test("a key cannot be made to draw from an identity that it does not have, nor lose the one it draws from", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { apiId, one } = await team(bed);
    const alone = await latchkey.createKey({ apiId });
    for (const call of [
      () => latchkey.updateKey({ keyId: alone.keyId, usesFrom: "identity" }),
      () => latchkey.updateKey({ keyId: one.keyId, externalId: null }),
      () => latchkey.updateKey({ keyId: one.keyId, ownerId: null }),
      () => latchkey.updateKey({ keyId: one.keyId, usesFrom: "identity", externalId: null }),
    ])
      expect((await rejectionOf(call())).issues).toEqual([
        { path: "usesFrom", message: 'needs an identity where it is "identity": give externalId' },
      ]);
    await latchkey.updateKey({ keyId: alone.keyId, usesFrom: "identity", externalId: "team" });
    await latchkey.updateKey({ keyId: one.keyId, usesFrom: "key", externalId: null });
    expect(await latchkey.verifyKey({ key: alone.key })).toMatchObject({ remaining: 4 });
    expect("remaining" in (await latchkey.verifyKey({ key: one.key }))).toBe(false);
  });

  test("createKey says all that does not go with usesFrom, beside other issues", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const error = await rejectionOf(
      latchkey.createKey({
        apiId,
        usesFrom: "identity",
        remaining: 5,
        refill: { interval: "daily", amount: 0 },
        ratelimit: { limit: 1, duration: 1 },
        ratelimits: [{ name: "default", limit: 1, duration: 1 }],
        meta: "no" as never,
        expires: NOON,
      }),
    );
    expect(error.issues).toEqual([
      { path: "meta", message: expect.any(String) },
      { path: "refill.amount", message: "must be a whole number >= 1" },
      { path: "usesFrom", message: 'needs externalId where it is "identity"' },
      { path: "remaining", message: expect.stringContaining("set it on the identity") },
      { path: "refill", message: expect.stringContaining("set it on the identity") },
      { path: "ratelimits", message: expect.stringContaining("default") },
      { path: "expires", message: "must be later than now" },
    ]);
    const odd = await rejectionOf(latchkey.createKey({ apiId, usesFrom: "team" as never }));
    expect(odd.issues).toEqual([{ path: "usesFrom", message: 'must be "key" or "identity"' }]);
  });

  test("a key without uses left to draw from is not enabled, until its identity has some", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { one, identityId } = await team(bed, { remaining: 1 });
    const { keyId } = one;
    await latchkey.updateKey({ keyId, enabled: false });
    await latchkey.updateIdentity({ identityId, remaining: 0 });
    const error = await rejectionOf(latchkey.updateKey({ keyId, enabled: true }));
    expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(error.message).toContain("its identity's remaining");
    expect((await latchkey.verifyKey({ key: one.key })).code).toBe("DISABLED");
    // The way out in one call: draw from itself, or from someone else.
    await latchkey.updateIdentity({ identityId, remaining: 1 });
    await latchkey.updateKey({ keyId, enabled: true });
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      code: "VALID",
      remaining: 0,
    });
    await latchkey.updateKey({ keyId, enabled: true, usesFrom: "key", remaining: 3 });
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({
      code: "VALID",
      remaining: 2,
    });
  });

  test("what is set of them is told, and what is spent is not", async () => {
    const bed = open();
    const { latchkey, store } = bed;
    const { identityId, one } = await team(bed, { remaining: 5 });
    await latchkey.verifyKey({ key: one.key });
    await latchkey.updateIdentity({
      identityId,
      remaining: 8,
      refill: { interval: "daily", amount: 2 },
    });
    const page = { beforeId: null, limit: 10 };
    const log = await store.listChanges("ws_default", { kind: "identity", identityId }, page);
    expect(log.items.filter(({ type }) => type.startsWith("identity."))).toMatchObject([
      {
        type: "identity.updated",
        fields: [
          { field: "remaining", after: 8 },
          { field: "refill", after: { interval: "daily", amount: 2 } },
        ],
      },
      {
        type: "identity.created",
        fields: [
          { field: "externalId", after: "team" },
          { field: "remaining", after: 5 },
        ],
      },
    ]);
  });
});
