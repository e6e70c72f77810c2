import { describe, expect, test } from "vitest";
import type { ChangeDescription } from "../../audit/entry.js";
import { createRandomPool } from "../../lib/random.js";
import { apiType } from "../../records/api.js";
import { roleType } from "../../records/grants.js";
import { keyType } from "../../records/key.js";
import { Transaction } from "../../store/transaction.js";
import { contextWith } from "../../testing/context.js";
import { keyWith, loadedWith, usageOf } from "../../testing/records.js";
import { TestStore } from "../../testing/store.js";
import { References } from "../references.js";
import { insertKey, type KeyCredential, keyLimitsOf, needForKey } from "./create-key.js";
import type { KeySettings } from "./settings.js";

const NOW = 1_000;
const credential = { keyId: "key_new", hash: "hash", start: "pay_ab", sealedSecret: null };
const bare: KeySettings = { apiId: "api_1", usesFrom: "key", enabled: true, recoverable: false };
const taken = () => new Error("taken");

/** Writes a key as createKey does, into a store with one API and one role. */
async function create(settings: Partial<KeySettings> = {}, of: KeyCredential = credential) {
  const store = new TestStore();
  store.put(apiType, loadedWith().api);
  const role = { id: "role_1", workspaceId: "ws_default", name: "anchor", description: null };
  store.put(roleType, { ...role, permissions: [], createdAt: 1, version: 1 });
  const context = contextWith({ actor: "ops" }, store);
  const transaction = new Transaction(store, createRandomPool(), context.workspaceId, false);
  const changes: ChangeDescription[] = [];
  const audit = (change: ChangeDescription) => changes.push(change);
  const references = new References({ context, transaction, audit }, NOW);
  const all = { ...bare, ...settings };
  needForKey(references, all);
  await references.read();
  insertKey({ context, transaction, audit, references, now: NOW }, all, of, taken);
  await transaction.commit();
  const state = store.get({ kind: "key", id: of.keyId });
  const key = state && keyType.decode(state.record, "ws_default");
  return { key, usage: state?.usage, changes, references, store };
}

describe("a new key", () => {
  test("without settings is unlimited and enabled, and has no owner", async () => {
    const { key, usage } = await create();
    expect(key).toEqual(keyWith({ id: "key_new", hash: "hash", createdAt: NOW }));
    expect(usage).toEqual(usageOf(null, NOW));
  });

  test("starts counting now: no earlier refill is due, and none has happened", async () => {
    const { usage } = await create({ remaining: 0, refill: { interval: "daily", amount: 3 } });
    expect(usage).toEqual(usageOf(0, NOW, null));
  });

  test("belongs to externalId, which wins over ownerId, and creates a bare identity", async () => {
    const ownerOf = async (settings: Partial<KeySettings>) => {
      const { key, store } = await create(settings);
      const identity = store.get({ kind: "identity", id: key?.identityId ?? "" });
      return identity?.record.body;
    };
    expect(await ownerOf({ ownerId: "old" })).toMatchObject({ externalId: "old" });
    expect(await ownerOf({ ownerId: "old", externalId: "new" })).toEqual({
      externalId: "new",
      createdAt: NOW,
    });
  });

  test("holds roles by id, and names those that do not exist", async () => {
    const { key, references } = await create({ roles: ["anchor", "nowhere"], permissions: ["p"] });
    expect(key).toMatchObject({ roles: ["role_1"], permissions: [] });
    expect(() => references.refuseMissing()).toThrow("roles nowhere; permissions p");
  });

  test("is written only while its API exists, under a hash that no other key has", async () => {
    const { store } = await create();
    expect(store.changes[0]).toMatchObject({
      expects: [{ kind: "api", id: "api_1", version: "exists" }],
      claims: [{ kind: "key", index: "hash", value: "hash", id: "key_new" }],
    });
  });

  test("is in the audit log with its settings, after the identity that is made for it", async () => {
    const { changes, key } = await create({ externalId: "new", remaining: 3, roles: ["anchor"] });
    expect(changes).toMatchObject([
      { type: "identity.created", resourceId: key?.identityId, at: NOW },
      { type: "key.created", resourceId: "key_new", at: NOW, identityId: key?.identityId },
    ]);
    const { after = {} } = changes[1] as ChangeDescription;
    const named = Object.entries(after).filter(([, value]) => value !== null);
    expect(Object.fromEntries(named)).toEqual({
      apiId: "api_1",
      externalId: "new",
      remaining: 3,
      roles: ["anchor"],
    });
  });

  test("is in the audit log without defaults, and with every setting of its own", async () => {
    const limit = { limit: 5, duration: 60_000 };
    const fieldsOf = async (settings: Partial<KeySettings>) => {
      const { changes } = await create(settings);
      const { after = {} } = changes.at(-1) as ChangeDescription;
      return Object.fromEntries(Object.entries(after).filter(([, value]) => value !== null));
    };
    expect(await fieldsOf({})).toEqual({ apiId: "api_1" });
    expect(await fieldsOf({ enabled: false, usesFrom: "identity" })).toEqual({
      apiId: "api_1",
      enabled: false,
      usesFrom: "identity",
    });
    const others = [
      { ...limit, name: "a", autoApply: true, async: true },
      { ...limit, name: "b", type: "fast", async: false } as const,
    ];
    expect(await fieldsOf({ ratelimit: { ...limit, type: "fast" }, ratelimits: others })).toEqual({
      apiId: "api_1",
      ratelimits: [{ ...limit, type: "fast" }, ...others],
    });
  });

  test("is never in the audit log with its hash or its sealed secret, but as recoverable", async () => {
    const { changes } = await create({}, { ...credential, sealedSecret: "sealed" });
    const text = JSON.stringify(changes);
    expect(text).toContain('"recoverable":true');
    for (const secret of ["hash", "sealed", "pay_ab"]) expect(text).not.toContain(`"${secret}"`);
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
    const figures = { algorithm: "fixed", ...limit, burst: 5, shadow: false };
    expect(limits).toEqual([
      { name: "default", ...figures, type: "fast", async: true, autoApply: true },
      { name: "a", ...figures, type: null, async: false, autoApply: false },
      { name: "b", ...figures, type: null, async: true, autoApply: true },
    ]);
  });

  test("are none if omitted; one named default applies without autoApply", () => {
    expect(keyLimitsOf({})).toEqual([]);
    const [only] = keyLimitsOf({ ratelimits: [{ ...limit, name: "default", autoApply: false }] });
    expect(only?.autoApply).toBe(true);
  });
});
