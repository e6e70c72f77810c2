import { keySettings } from "@latchkey/core";
import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, NOON, rejectionOf, type TestContext } from "../test-context.js";

describeOnMemory("the result of a read", (open) => {
  /** A key with every setting, and a refill that was applied. */
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
      tags: ["harbour", "north"],
      ipWhitelist: ["192.0.2.0/24"],
      startsAt: NOON,
      expiresWhenUnused: "30d",
    });
    advance(DAY_MS);
    await latchkey.verifyKey({ key, ipAddress: "192.0.2.7" });
    return { apiId, keyId };
  }

  test("of a key can be passed to createKey, and the new key has the same settings", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, keyId } = await fullKey(context);
    const view = await latchkey.getKey({ keyId });
    expect(view.refill).toHaveProperty("lastRefillAt");
    const copy = await latchkey.createKey({ apiId, ...keySettings(view) });
    const { lastRefillAt: _, ...refill } = view.refill ?? {};
    const shown = await latchkey.getKey({ keyId: copy.keyId });
    expect(keySettings(shown)).toEqual({ ...keySettings(view), refill });
  });

  test("of a key can be passed to updateKey, and changes nothing", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId } = await fullKey(context);
    const view = await latchkey.getKey({ keyId });
    expect(view.permissions).toEqual(["gates.open", "tides.read"]);
    await latchkey.updateKey({ keyId, ...keySettings(view) });
    expect(await latchkey.getKey({ keyId })).toEqual(view);
    await latchkey.removeRoles({ keyId, roles: ["pilot"] });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ permissions: ["tides.read"] });
  });

  test("of a key keeps a permission of a role as its own if it is given as an object, or if the role is removed", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId } = await fullKey(context);
    const permissions = async () => (await latchkey.getKey({ keyId })).permissions;
    await latchkey.updateKey({ keyId, permissions: [{ name: "gates.open" }] });
    await latchkey.updateKey({ keyId, roles: [] });
    expect(await permissions()).toEqual(["gates.open"]);
    await latchkey.updateKey({ keyId, roles: ["pilot"], permissions: [] });
    await latchkey.updateKey({ keyId, roles: [], permissions: ["gates.open"] });
    expect(await permissions()).toEqual(["gates.open"]);
  });

  test("of a key without uses left can be passed back, and the key lives on with its next refill", async () => {
    const { latchkey, advance } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const refill = { interval: "daily", amount: 1 } as const;
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: 1, refill });
    await latchkey.verifyKey({ key });
    const view = await latchkey.getKey({ keyId });
    expect(view).toMatchObject({ enabled: false, remaining: 0 });
    await latchkey.updateKey({ keyId, ...keySettings(view) });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "USAGE_EXCEEDED" });
    advance(DAY_MS);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "VALID" });
  });

  test("of a key that takes its uses from its identity does not change the uses of the identity", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createIdentity({ externalId: "team", remaining: 5 });
    const fields = { apiId, externalId: "team", usesFrom: "identity" } as const;
    const { keyId } = await latchkey.createKey(fields);
    const view = await latchkey.getKey({ keyId });
    expect(view).toMatchObject({ remaining: 5 });
    const copy = await latchkey.createKey({ apiId, ...keySettings(view) });
    await latchkey.updateKey({ keyId, ...keySettings(view) });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 5, usesFrom: "identity" });
    expect(await latchkey.getKey({ keyId: copy.keyId })).toMatchObject({ remaining: 5 });
    const refused = latchkey.createKey({ apiId, ...keySettings(view), remaining: 5 });
    expect((await rejectionOf(refused)).issues).toMatchObject([{ path: "remaining" }]);
  });

  test("of an identity can be passed to createIdentity and updateIdentity unchanged", async () => {
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

  test("is validated like any other input: an invalid lastRefillAt is refused by name", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const refill = { interval: "daily", amount: 7, lastRefillAt: "yesterday" } as never;
    const refused = latchkey.createKey({ apiId, remaining: 1, refill });
    expect((await rejectionOf(refused)).issues).toMatchObject([{ path: "refill.lastRefillAt" }]);
  });
});
