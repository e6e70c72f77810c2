import { describe, expect, test } from "vitest";
import { contextWith } from "../../testing/context.js";
import { describeNewKey, keyLimitsOf } from "./build.js";
import type { KeySettings } from "./settings.js";

const NOW = 1_000;
const mark = { keyId: "key_new", hash: "hash", start: "pay_ab", sealedSecret: null };
const bare: KeySettings = { apiId: "api_1", usesFrom: "key", enabled: true, recoverable: false };
const describeKey = (settings: Partial<KeySettings> = {}) =>
  describeNewKey(contextWith({ actor: "ops" }), { ...bare, ...settings }, mark, NOW);

describe("a new key", () => {
  test("of which nothing is said is unlimited, switched on, and belongs to nobody", () => {
    const { newKey } = describeKey();
    expect(newKey).toEqual({
      key: {
        id: "key_new",
        workspaceId: "ws_default",
        apiId: "api_1",
        hash: "hash",
        start: "pay_ab",
        name: null,
        identityId: null,
        meta: null,
        createdAt: NOW,
        updatedAt: null,
        expires: null,
        enabled: true,
        refill: null,
        ratelimits: [],
        environment: null,
        usesFrom: "key",
        rotatedFrom: null,
        rotatedTo: null,
        sharedCountersId: null,
        sealedSecret: null,
        version: 1,
      },
      usage: { remaining: null, refilledAt: NOW },
      identity: null,
      grants: { roles: [], permissions: [] },
    });
  });

  test("starts its count now: no refill from before is owed", () => {
    const { newKey } = describeKey({ remaining: 0, refill: { interval: "daily", amount: 3 } });
    expect(newKey.usage).toEqual({ remaining: 0, refilledAt: NOW });
  });

  test("belongs to externalId, which wins over ownerId, and brings a bare identity along", () => {
    expect(describeKey({ ownerId: "old" }).newKey.identity).toMatchObject({ externalId: "old" });
    const { identity } = describeKey({ ownerId: "old", externalId: "new" }).newKey;
    expect(identity).toMatchObject({ externalId: "new", meta: {}, ratelimits: [], refill: null });
  });

  test("names roles and permissions that have to exist", () => {
    const { grants } = describeKey({ roles: ["r"], permissions: ["p", "q"] }).newKey;
    const existing = (name: string) => ({ kind: "name", name, orCreate: null });
    expect(grants).toEqual({
      roles: [existing("r")],
      permissions: [existing("p"), existing("q")],
    });
  });

  test("is told of with its settings, after the identity, which is told of only where it is made", () => {
    const { changes, newKey } = describeKey({ externalId: "new", remaining: 3, roles: ["r"] });
    expect(
      changes.map(({ change, ifCreated }) => [change.type, change.resourceId, ifCreated]),
    ).toEqual([
      ["identity.created", newKey.identity?.id, true],
      ["key.created", "key_new", false],
    ]);
    for (const { change } of changes)
      expect(change).toMatchObject({ actor: "ops", at: NOW, identityId: newKey.identity?.id });
    expect(changes[1]?.change.fields).toEqual([
      { field: "apiId", after: "api_1" },
      { field: "externalId", after: "new" },
      { field: "enabled", after: true },
      { field: "usesFrom", after: "key" },
      { field: "remaining", after: 3 },
      { field: "roles", after: ["r"] },
    ]);
  });

  test("is never told of with its hash, or with its sealed secret, but that it is recoverable", () => {
    const sealed = { ...mark, sealedSecret: "sealed" };
    const { changes } = describeNewKey(contextWith(), bare, sealed, NOW);
    const told = JSON.stringify(changes);
    expect(told).toContain('"recoverable"');
    for (const secret of ["hash", "sealed", "pay_ab"]) expect(told).not.toContain(`"${secret}"`);
  });
});

describe("the limits of a new key", () => {
  const limit = { limit: 5, duration: 60_000 };

  test("are ratelimit, named default, and then the others", () => {
    const limits = keyLimitsOf({
      ratelimit: { ...limit, type: "fast" },
      ratelimits: [
        { ...limit, name: "a" },
        { ...limit, name: "b", autoApply: true, async: true },
      ],
    });
    expect(limits).toEqual([
      { name: "default", limit: 5, duration: 60_000, type: "fast", async: true, autoApply: true },
      { name: "a", limit: 5, duration: 60_000, type: null, async: false, autoApply: false },
      { name: "b", limit: 5, duration: 60_000, type: null, async: true, autoApply: true },
    ]);
  });

  test("are none of which nothing is said; one named default applies by itself without being told to", () => {
    expect(keyLimitsOf({})).toEqual([]);
    const [only] = keyLimitsOf({ ratelimits: [{ ...limit, name: "default", autoApply: false }] });
    expect(only?.autoApply).toBe(true);
  });
});
