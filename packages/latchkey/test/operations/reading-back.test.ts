import type { Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, NOON, rejectionOf, type TestContext } from "../test-context.js";

type KeyView = Awaited<ReturnType<Latchkey["getKey"]>>;

/** The settings in what getKey shows: those that createKey and updateKey take. */
function settingsOf(view: KeyView) {
  const { name, ownerId, meta, expires, remaining, refill, ratelimit, ratelimits } = view;
  const { environment, enabled, roles, permissions, usesFrom } = view;
  const settings = { name, ownerId, meta, expires, remaining, refill, ratelimit, ratelimits };
  return present({ ...settings, environment, enabled, roles, permissions, usesFrom });
}

/** Without the members that are undefined. */
function present<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Fields;
}

describeOnMemory("what a read shows", (open) => {
  /** A key with every setting, and a refill that has happened. */
  async function fullKey({ latchkey, advance }: TestContext) {
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createPermission({ name: "gates.open" });
    await latchkey.createRole({ name: "pilot", permissions: ["gates.open"] });
    const { key, keyId } = await latchkey.createKey({
      apiId,
      name: "north pier",
      externalId: "pier-7",
      meta: { berth: 4 },
      roles: ["pilot"],
      permissions: ["tides.read"],
      expires: NOON + 9 * DAY_MS,
      remaining: 2,
      refill: { interval: "monthly", amount: 5, refillDay: 11 },
      ratelimit: { limit: 10, duration: 60_000, type: "fast", async: true },
      ratelimits: [{ name: "writes", limit: 3, duration: 1_000, autoApply: true }],
      environment: "live",
    });
    advance(DAY_MS);
    await latchkey.verifyKey({ key });
    return { apiId, keyId };
  }

  test("of a key can be given to createKey as it is: the new key has the same settings", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, keyId } = await fullKey(context);
    const view = await latchkey.getKey({ keyId });
    expect(view.refill).toHaveProperty("lastRefillAt");
    const copy = await latchkey.createKey({ apiId, ...settingsOf(view) });
    const { lastRefillAt: _, ...refill } = view.refill ?? {};
    expect(settingsOf(await latchkey.getKey({ keyId: copy.keyId }))).toEqual({
      ...settingsOf(view),
      refill,
    });
  });

  test("of a key can be given back to updateKey as it is, and changes nothing", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId } = await fullKey(context);
    const view = await latchkey.getKey({ keyId });
    await latchkey.updateKey({ keyId, ...settingsOf(view) });
    expect(await latchkey.getKey({ keyId })).toEqual({ ...view, updatedAt: context.now() });
  });

  test("of a key that takes its uses from its identity names a setting that is not the key's", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createIdentity({ externalId: "team", remaining: 5 });
    const fields = { apiId, externalId: "team", usesFrom: "identity" } as const;
    const { keyId } = await latchkey.createKey(fields);
    const { remaining, ...settings } = settingsOf(await latchkey.getKey({ keyId }));
    expect(remaining).toBe(5);
    expect(await latchkey.createKey({ apiId, ...settings })).toHaveProperty("keyId");
    const refused = latchkey.createKey({ apiId, ...settings, remaining });
    expect((await rejectionOf(refused)).issues).toMatchObject([{ path: "remaining" }]);
  });

  test("of an identity can be given to createIdentity and updateIdentity as it is", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { identityId } = await latchkey.createIdentity({
      externalId: "pier-7",
      meta: { berth: 4 },
      remaining: 3,
      refill: { interval: "daily", amount: 7 },
      ratelimits: [
        { name: "reads", limit: 3, duration: 1_000, autoApply: true },
        { name: "writes", limit: 1, duration: 1_000 },
      ],
    });
    const fields = { apiId, externalId: "pier-7", usesFrom: "identity" } as const;
    const { key } = await latchkey.createKey(fields);
    context.advance(DAY_MS);
    await latchkey.verifyKey({ key });
    const { id, ...view } = await latchkey.getIdentity({ identityId });
    expect(view).toMatchObject({ remaining: 6, refill: { lastRefillAt: NOON + DAY_MS / 2 } });
    expect(await latchkey.updateIdentity({ identityId, ...view })).toEqual({ id, ...view });
    const copy = await latchkey.createIdentity({ ...view, externalId: "pier-8" });
    expect(await latchkey.getIdentity(copy)).toEqual({
      ...view,
      id: copy.identityId,
      externalId: "pier-8",
      refill: { interval: "daily", amount: 7 },
    });
  });

  test("is checked like any other input: a lastRefillAt that is no instant is refused by name", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const refill = { interval: "daily", amount: 7, lastRefillAt: "yesterday" } as never;
    const refused = latchkey.createKey({ apiId, remaining: 1, refill });
    expect((await rejectionOf(refused)).issues).toMatchObject([{ path: "refill.lastRefillAt" }]);
  });
});
