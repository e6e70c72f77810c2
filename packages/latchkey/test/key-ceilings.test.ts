import type { Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, describeOnMemory, NOON, rejectionOf } from "./test-context.js";

const plaintextOf = (at: number) => `old_3f9c2a7d51e84b06${at}`;

/** Number of listed keys of an owner that count towards the ceiling. */
async function counted(latchkey: Latchkey, apiId: string, externalId: string): Promise<number> {
  const { keys } = await latchkey.listKeys({ apiId, externalId });
  return keys.filter(({ rotatedTo }) => rotatedTo === undefined).length;
}

describeOnEveryStore("the ceiling on the keys of an identity", (open) => {
  test("K1: concurrent calls from several processes never give an owner more keys than the ceiling", async () => {
    const context = open();
    const { latchkey } = context;
    const ceilings = { maxKeysPerIdentity: 3 };
    const { apiId } = await latchkey.createApi({ name: "tides", ceilings });
    const other = await latchkey.createApi({ name: "maps" });
    const processes = [latchkey, context.another(), context.another()];
    const strays = await Promise.all(
      Array.from({ length: 3 }, () => latchkey.createKey({ apiId, externalId: "stray" })),
    );
    const calls = processes.flatMap((one, at) => [
      one.createKey({ apiId, externalId: "u" }),
      one.createKey({ apiId, externalId: "u", enabled: false }),
      one.createKeys([{ apiId, plaintext: plaintextOf(at), externalId: "u" }]),
      one.updateKey({ keyId: strays[at]?.keyId ?? "", externalId: "u" }),
      one.createKey({ apiId: other.apiId, externalId: "u" }),
    ]);
    const outcomes = await Promise.allSettled(calls);
    for (const outcome of outcomes)
      if (outcome.status === "rejected")
        expect(outcome.reason).toMatchObject({
          code: "PRECONDITION_FAILED",
          reason: "above-ceiling",
          details: { field: "externalId", limit: 3 },
        });
    expect(await counted(latchkey, apiId, "u")).toBe(3);
    expect(await counted(latchkey, other.apiId, "u")).toBe(3);
  });

  test("K1: counts existing keys, and a rotation, a deletion and a new identity free no place too many", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tides" });
    const create = () => context.another().createKey({ apiId, externalId: "u" });
    // A process with the previous API in its cache.
    const stale = context.another();
    const first = await stale.createKey({ apiId, externalId: "u" });
    const second = await create();
    await latchkey.updateApi({ apiId, ceilings: { maxKeysPerIdentity: 2 } });
    const full = { code: "PRECONDITION_FAILED", reason: "above-ceiling" };
    expect(await rejectionOf(stale.createKey({ apiId, externalId: "u" }))).toMatchObject(full);
    const successor = await latchkey.rotateKey({ keyId: first.keyId, graceMs: "1d" });
    expect(await rejectionOf(create())).toMatchObject(full);
    await latchkey.deleteKey({ keyId: successor.keyId });
    await create();
    expect(await rejectionOf(create())).toMatchObject(full);
    // A key that keeps its owner takes no additional place.
    await latchkey.updateKey({ keyId: second.keyId, externalId: "u", name: "kept" });
    const { identity } = await latchkey.getKey({ keyId: second.keyId });
    await latchkey.deleteIdentity({ identityId: identity?.id ?? "" });
    await create();
    expect(await counted(latchkey, apiId, "u")).toBe(1);
    await latchkey.updateApi({ apiId, ceilings: null });
    await Promise.all([stale.createKey({ apiId, externalId: "u" }), create(), create()]);
    expect(await counted(latchkey, apiId, "u")).toBe(4);
  });

  test("K1: updateKeys gives an owner all keys or none, by the free places, even in concurrent calls", async () => {
    const context = open();
    const { latchkey } = context;
    const ceilings = { maxKeysPerIdentity: 3 };
    const { apiId } = await latchkey.createApi({ name: "tides", ceilings });
    const keyIds: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      const { keyId } = await latchkey.createKey({ apiId, externalId: `stray_${at}` });
      keyIds.push(keyId);
    }
    const full = { code: "PRECONDITION_FAILED", reason: "above-ceiling" };
    const refused = await rejectionOf(
      latchkey.updateKeys({ keyIds: keyIds.slice(0, 4), externalId: "u", name: "moved" }),
    );
    expect(refused).toMatchObject({ ...full, details: { field: "externalId", limit: 3 } });
    expect(refused).toMatchObject({ details: { keyId: keyIds[3] } });
    expect(refused.message).toMatch(/^"keyIds\.3": /);
    for (const keyId of keyIds)
      expect(await latchkey.getKey({ keyId })).not.toMatchObject({ name: "moved" });
    const outcomes = await Promise.allSettled([
      latchkey.updateKeys({ keyIds: keyIds.slice(0, 2), externalId: "u" }),
      context.another().updateKeys({ keyIds: keyIds.slice(2, 4), externalId: "u" }),
      context.another().updateKeys({ keyIds: keyIds.slice(4, 6), externalId: "u" }),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await counted(latchkey, apiId, "u")).toBe(2);
    await latchkey.createKey({ apiId, externalId: "u" });
    expect(await rejectionOf(latchkey.createKey({ apiId, externalId: "u" }))).toMatchObject(full);
    // Keys that keep their owner take no additional place.
    const { keys } = await latchkey.listKeys({ apiId, externalId: "u" });
    await latchkey.updateKeys({ keyIds: keys.map(({ id }) => id), externalId: "u", name: "kept" });
    expect(await counted(latchkey, apiId, "u")).toBe(3);
  });

  test("two concurrent increments of uses together stay below the ceiling", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tides", ceilings: { maxRemaining: 10 } });
    const { keyId } = await latchkey.createKey({ apiId, remaining: 5 });
    const raise = (one: Latchkey) => one.updateRemaining({ keyId, op: "increment", value: 3 });
    const outcomes = await Promise.allSettled([raise(latchkey), raise(context.another())]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 8 });
  });
});

describeOnMemory("defaults and ceilings of an API", (open) => {
  const defaults = {
    prefix: "pay_live",
    byteLength: 24,
    expiresIn: "90d",
    remaining: 100,
    refill: { interval: "daily", amount: 100 },
    ratelimit: { limit: 10, duration: "1s" },
    permissions: ["docs.read"],
    environment: "live",
  } as const;

  test("defaults apply to omitted fields, and null means none", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tides", defaults });
    await latchkey.createPermission({ name: "docs.read" });
    const plain = await latchkey.createKey({ apiId });
    expect(plain.key).toMatch(/^pay_live_/);
    const view = await latchkey.getKey({ keyId: plain.keyId });
    expect(view).toMatchObject({
      expires: NOON + 90 * DAY_MS,
      remaining: 100,
      refill: { interval: "daily", amount: 100 },
      ratelimit: { limit: 10, duration: 1_000 },
      permissions: ["docs.read"],
      environment: "live",
    });
    const none = { expires: null, remaining: null, ratelimit: null, environment: null } as const;
    const bare = await latchkey.createKey({
      apiId,
      ...none,
      permissions: [],
      prefix: null,
    });
    const shown = await latchkey.getKey({ keyId: bare.keyId });
    for (const field of ["expires", "remaining", "refill", "ratelimit", "environment"])
      expect(shown).not.toHaveProperty(field);
    expect(shown.permissions).toEqual([]);
    const own = await latchkey.createKey({
      apiId,
      remaining: 7,
      refill: null,
      prefix: "own",
    });
    expect(own.key).toMatch(/^own_/);
    expect(await latchkey.getKey({ keyId: own.keyId })).toMatchObject({
      remaining: 7,
      environment: "live",
    });
    const shared = { apiId, externalId: "u", usesFrom: "identity" } as const;
    const { keyId } = await latchkey.createKey(shared);
    expect(await latchkey.getKey({ keyId })).not.toHaveProperty("remaining");
    const { keyIds } = await latchkey.createKeys([{ apiId, plaintext: plaintextOf(1) }]);
    expect(await latchkey.getKey({ keyId: keyIds[0] ?? "" })).toMatchObject({ remaining: 100 });
    // A process with the previous API in its cache uses the current one.
    await context.another().updateApi({ apiId, defaults: null });
    const later = await latchkey.createKey({ apiId });
    expect(await latchkey.getKey({ keyId: later.keyId })).not.toHaveProperty("expires");
    const refused = await rejectionOf(latchkey.createKey({ apiId, expires: null }));
    expect(refused.issues).toMatchObject([{ path: "expires" }]);
  });

  test("a default permission must exist: the error names it as a default, and `create` applies only to what a caller names", async () => {
    const { latchkey } = open();
    const usual = { permissions: ["docs.read", "docs.write"] };
    const { apiId } = await latchkey.createApi({ name: "tides", defaults: usual });
    await latchkey.createPermission({ name: "docs.read" });
    const imported = { apiId, plaintext: plaintextOf(1) };
    const calls = [
      () => latchkey.createKey({ apiId, roles: ["docs.write"], create: true }),
      () => latchkey.createKeys([imported]),
      async () => {
        throw (await latchkey.createKeys([imported], { partial: true })).results[0]?.error;
      },
    ];
    for (const call of calls)
      expect(await rejectionOf(call())).toMatchObject({
        reason: "missing-grants",
        message: "these do not exist: permissions docs.write (a default of the API)",
        details: { missing: { roles: [], permissions: ["docs.write"] } },
      });
    const own = latchkey.createKey({ apiId, permissions: ["docs.write"] });
    expect((await rejectionOf(own)).message).toBe("these do not exist: permissions docs.write");
    await latchkey.createKey({ apiId, permissions: ["docs.write"], create: true });
    await latchkey.createKey({ apiId });
  });

  test("a default expiry stays below the ceiling on expiries even for a key that starts later", async () => {
    const { latchkey } = open();
    const ceilings = { maxExpiresIn: "30d" } as const;
    const usual = { expiresIn: "30d" } as const;
    const { apiId } = await latchkey.createApi({ name: "tides", defaults: usual, ceilings });
    const startsAt = NOON + 29 * DAY_MS;
    const { keyId } = await latchkey.createKey({ apiId, startsAt });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ expires: NOON + 30 * DAY_MS });
    const tooLate = latchkey.createKey({ apiId, startsAt: NOON + 30 * DAY_MS });
    expect(await rejectionOf(tooLate)).toMatchObject({ details: { field: "expires" } });
    await latchkey.updateApi({ apiId, ceilings: null });
    const free = await latchkey.createKey({ apiId, startsAt });
    expect(await latchkey.getKey({ keyId: free.keyId })).toMatchObject({
      expires: startsAt + 30 * DAY_MS,
    });
  });

  test("every way to exceed a ceiling is refused by field, and values at the ceiling are accepted", async () => {
    const { latchkey } = open();
    const ceilings = {
      maxExpiresIn: "30d",
      maxRemaining: 100,
      permissions: ["docs.*"],
      maxRatelimit: { limit: 100, duration: "1m" },
    } as const;
    // Null is for keys that shall not get the default of their API.
    const usual = { environment: "live" };
    const { apiId } = await latchkey.createApi({ name: "tides", ceilings, defaults: usual });
    expect(await latchkey.getApi({ apiId })).toMatchObject({
      ceilings: { maxExpiresIn: 30 * DAY_MS, maxRatelimit: { limit: 100, duration: 60_000 } },
    });
    for (const name of ["docs.read", "docs.*", "*"]) await latchkey.createPermission({ name });
    const most = {
      expires: NOON + 30 * DAY_MS,
      remaining: 100,
      refill: { interval: "daily", amount: 100 },
      permissions: ["docs.read", "docs.*"],
      ratelimit: { limit: 100, duration: "1m" },
    } as const;
    const { keyId } = await latchkey.createKey({ apiId, ...most });
    const above: readonly (readonly [string, object])[] = [
      ["expires", { expires: NOON + 30 * DAY_MS + 1 }],
      ["expires", { expires: null }],
      ["remaining", { remaining: 101 }],
      ["remaining", { remaining: null, refill: null }],
      ["refill", { refill: { interval: "daily", amount: 101 } }],
      ["refill", { refill: { interval: "daily", amount: 100, carryOver: 1 } }],
      ["permissions", { permissions: ["docs.read", "*"] }],
      ["ratelimit", { ratelimit: { limit: 101, duration: "1m" } }],
      ["ratelimit", { ratelimit: { limit: 6_000, duration: "1h" } }],
      ["ratelimit", { ratelimit: { limit: 10, duration: "1s" } }],
      ["ratelimit", { ratelimit: null }],
    ];
    for (const [field, fields] of above)
      for (const call of [
        () => latchkey.createKey({ apiId, ...most, ...fields }),
        () => latchkey.updateKey({ keyId, ...fields }),
      ])
        expect(await rejectionOf(call())).toMatchObject({
          code: "PRECONDITION_FAILED",
          reason: "above-ceiling",
          details: { field },
        });
    const free = await latchkey.createApi({ name: "maps" });
    const { keyId: freeId } = await latchkey.createKey({ ...most, apiId: free.apiId });
    for (const [field, fields] of above)
      expect(
        await rejectionOf(latchkey.updateKeys({ keyIds: [freeId, keyId], name: "no", ...fields })),
      ).toMatchObject({ reason: "above-ceiling", details: { field, keyId } });
    expect(await latchkey.getKey({ keyId: freeId })).not.toHaveProperty("name");
    for (const call of [
      () => latchkey.addPermissions({ keyId, permissions: ["*"] }),
      () => latchkey.setPermissions({ keyId, permissions: ["*"] }),
      () => latchkey.updateRemaining({ keyId, op: "set", value: null }),
      () => latchkey.updateRemaining({ keyId, op: "increment", value: 1 }),
      () => latchkey.createKeys([{ apiId, plaintext: plaintextOf(1) }]),
    ])
      expect(await rejectionOf(call())).toMatchObject({ reason: "above-ceiling" });
    const [result] = (
      await latchkey.createKeys([{ apiId, plaintext: plaintextOf(1) }], { partial: true })
    ).results;
    expect(result?.error).toMatchObject({ reason: "above-ceiling", details: { field: "expires" } });
  });

  test("an existing key stays as it is, as long as the field above the ceiling is not changed", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tides" });
    await latchkey.createPermission({ name: "admin" });
    const { keyId } = await latchkey.createKey({ apiId, permissions: ["admin"], remaining: 9 });
    const ceilings = { maxExpiresIn: "1d", maxRemaining: 5, permissions: ["docs.*"] } as const;
    await latchkey.updateApi({ apiId, ceilings });
    await latchkey.updateKey({ keyId, name: "old", permissions: ["admin"], remaining: 9 });
    await latchkey.updateRemaining({ keyId, op: "decrement", value: 1 });
    const { key } = await latchkey.rotateKey({ keyId });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "VALID", remaining: 7 });
  });

  test("if a key returns to its own uses, the ceiling applies to its existing uses and to those given with the change", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tides" });
    await latchkey.createIdentity({ externalId: "pier-7", remaining: 5 });
    const shared = { apiId, externalId: "pier-7", usesFrom: "identity" } as const;
    const unlimited = await latchkey.createKey(shared);
    const refill = { interval: "daily", amount: 5_000 } as const;
    const own = async (settings: object) => {
      const { keyId } = await latchkey.createKey({ apiId, externalId: "pier-7", ...settings });
      await latchkey.updateKey({ keyId, usesFrom: "identity" });
      return keyId;
    };
    const many = await own({ remaining: 5_000 });
    const refilled = await own({ remaining: 10, refill });
    const few = await own({ remaining: 100 });
    await latchkey.updateApi({ apiId, ceilings: { maxRemaining: 100 } });
    const back = (keyId: string, more: object = {}) =>
      latchkey.updateKey({ keyId, usesFrom: "key", ...more });
    for (const [keyId, field] of [
      [unlimited.keyId, "remaining"],
      [many, "remaining"],
      [refilled, "refill"],
    ] as const)
      await expect(back(keyId)).rejects.toMatchObject({
        reason: "above-ceiling",
        details: { field },
      });
    await back(few);
    await back(many, { remaining: 100 });
    await back(unlimited.keyId, { remaining: 7 });
    await back(refilled, { refill: null });
    expect((await latchkey.getKey({ keyId: unlimited.keyId })).remaining).toBe(7);
  });

  test("a default above its ceiling is refused when the API is written", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tides", defaults });
    const refused = { code: "PRECONDITION_FAILED", reason: "above-ceiling" };
    for (const [field, ceilings] of [
      ["defaults.expiresIn", { maxExpiresIn: "89d" }],
      ["defaults.remaining", { maxRemaining: 99 }],
      ["defaults.permissions", { permissions: ["tides.*"] }],
      ["defaults.ratelimit", { maxRatelimit: { limit: 9, duration: "1s" } }],
    ] as const)
      for (const call of [
        () => latchkey.createApi({ name: "tides", defaults, ceilings }),
        () => latchkey.updateApi({ apiId, ceilings }),
      ])
        expect(await rejectionOf(call())).toMatchObject({ ...refused, details: { field } });
    expect(await latchkey.getApi({ apiId })).not.toHaveProperty("ceilings");
  });
});
