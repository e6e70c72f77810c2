import { beforeEach, describe, expect, test } from "vitest";
import { openService, START, type TestService } from "../testing/open-service.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
});

/** Creates a key with these fields; returns what was created, and the key as in a list. */
async function created(fields: object = {}, query: object = {}) {
  const { keyId, key } = await service.ok("keys.createKey", { apiId, ...fields });
  const { keys } = await service.ok("apis.listKeys", { apiId, ...query });
  expect(keys).toHaveLength(1);
  return { keyId, key, listed: keys[0] };
}

describe("spec 2.1: a listed key", () => {
  test("spec 2.1 id: the key identifier", async () => {
    const { keyId, listed } = await created();
    expect(listed.id).toBe(keyId);
    expect(keyId).toMatch(/^key_/);
  });

  test("spec 2.1 start: the leading characters of the key, never all of it", async () => {
    const { key, listed } = await created({ prefix: "pay_live" });
    expect(listed.start).toMatch(/^pay_live_.+/);
    expect(key.startsWith(listed.start)).toBe(true);
    expect(listed.start.length).toBeLessThan(key.length / 2);
  });

  test("spec 2.1 workspaceId: the owning workspace", async () => {
    expect((await created()).listed.workspaceId).toBe("ws_default");
  });

  test("spec 2.1 apiId: the API the key belongs to", async () => {
    expect((await created()).listed.apiId).toBe(apiId);
  });

  test("spec 2.1 name: given at creation, absent without one", async () => {
    expect((await created({ name: "server 1" })).listed.name).toBe("server 1");
    await service.ok("keys.createKey", { apiId });
    const { keys } = await service.ok("apis.listKeys", { apiId });
    expect(keys[1]).not.toHaveProperty("name");
  });

  test("spec 2.1 ownerId: mirrors identity.externalId, absent without an identity", async () => {
    const { listed } = await created({ externalId: "user_1" });
    expect(listed.ownerId).toBe("user_1");
    expect(listed.identity.externalId).toBe("user_1");
    await service.ok("keys.createKey", { apiId });
    const { keys } = await service.ok("apis.listKeys", { apiId });
    expect(keys[1]).not.toHaveProperty("ownerId");
  });

  test("spec 2.1 meta: free-form metadata, returned as given", async () => {
    const meta = { plan: "pro", seats: 5, tags: ["a", { b: null }], nested: { on: true } };
    expect((await created({ meta })).listed.meta).toEqual(meta);
  });

  test("spec 2.1 createdAt: the creation timestamp, in milliseconds", async () => {
    expect((await created()).listed.createdAt).toBe(START);
  });

  test("spec 2.1 updatedAt: appears with the first change, in milliseconds; a use does not touch it", async () => {
    const { keyId, key, listed } = await created({ remaining: 5 });
    expect(listed).not.toHaveProperty("updatedAt");
    service.advance(1_000);
    await service.ok("keys.verifyKey", { key });
    expect(await service.ok("keys.getKey", { keyId })).not.toHaveProperty("updatedAt");
    await service.ok("keys.updateKey", { keyId, name: "renamed" });
    expect((await service.ok("keys.getKey", { keyId })).updatedAt).toBe(START + 1_000);
  });

  test("spec 2.1 expires: the expiry timestamp, in milliseconds", async () => {
    expect((await created({ expires: START + 60_000 })).listed.expires).toBe(START + 60_000);
  });

  test("spec 2.1 remaining: verifications left", async () => {
    const { keyId, key, listed } = await created({ remaining: 5 });
    expect(listed.remaining).toBe(5);
    await service.ok("keys.verifyKey", { key });
    expect((await service.ok("keys.getKey", { keyId })).remaining).toBe(4);
  });

  test("spec 2.1 refill: the refill object, with when it last happened, absent before", async () => {
    const refill = { interval: "monthly", amount: 100, refillDay: 15 };
    const { keyId, key, listed } = await created({ remaining: 5, refill });
    expect(listed.refill).toEqual(refill);
    const dueAt = Date.UTC(2026, 2, 15);
    service.advance(dueAt - service.now());
    await service.ok("keys.verifyKey", { key });
    await service.ok("keys.updateRemaining", { keyId, op: "set", value: 7 });
    const { refill: after } = await service.ok("keys.getKey", { keyId });
    expect(after).toEqual({ ...refill, lastRefillAt: dueAt });
  });

  test("spec 2.1 ratelimit: the list form of the limit", async () => {
    const { listed } = await created({ ratelimit: { type: "fast", limit: 10, duration: 60_000 } });
    expect(listed.ratelimit).toEqual({
      async: expect.any(Boolean),
      type: "fast",
      limit: 10,
      duration: 60_000,
    });
  });

  test("spec 2.1 roles: role names, an empty list without any", async () => {
    await service.latchkey.createRole({ name: "admin" });
    expect((await created({ roles: ["admin"] })).listed.roles).toEqual(["admin"]);
    await service.ok("keys.createKey", { apiId });
    expect((await service.ok("apis.listKeys", { apiId })).keys[1].roles).toEqual([]);
  });

  test("spec 2.1 permissions: effective permission names, roles expanded, an empty list without any", async () => {
    await service.latchkey.createPermission({ name: "docs.read" });
    await service.latchkey.createPermission({ name: "docs.write" });
    await service.latchkey.createRole({ name: "editor", permissions: ["docs.write", "docs.read"] });
    const { listed } = await created({ roles: ["editor"], permissions: ["docs.read"] });
    expect(listed.permissions).toEqual(["docs.read", "docs.write"]);
    await service.ok("keys.createKey", { apiId });
    expect((await service.ok("apis.listKeys", { apiId })).keys[1].permissions).toEqual([]);
  });

  test("spec 2.1 enabled: a disabled key is listed as such and is not valid", async () => {
    const { key, listed } = await created({ enabled: false });
    expect(listed.enabled).toBe(false);
    expect(await service.ok("keys.verifyKey", { key })).toMatchObject({ valid: false });
  });

  test("spec 2.1 plaintext: the raw key, only on request and only where it was stored encrypted", async () => {
    const { key, listed } = await created({ recoverable: true }, { decrypt: true });
    expect(listed.plaintext).toBe(key);
    await service.ok("keys.createKey", { apiId });
    const { keys } = await service.ok("apis.listKeys", { apiId, decrypt: true });
    expect(keys[1]).not.toHaveProperty("plaintext");
    for (const shown of (await service.ok("apis.listKeys", { apiId })).keys)
      expect(shown).not.toHaveProperty("plaintext");
  });

  test("spec 2.1 identity: id, externalId and meta of the identity", async () => {
    const { identityId } = await service.ok("identities.createIdentity", {
      externalId: "user_1",
      meta: { plan: "pro" },
    });
    expect((await created({ externalId: "user_1" })).listed.identity).toEqual({
      id: identityId,
      externalId: "user_1",
      meta: { plan: "pro" },
    });
  });
});

describe("spec 2.2: a created key", () => {
  test("spec 2.2 keyId: identifies the key afterwards and is no secret", async () => {
    const { keyId, key } = await created();
    expect(key).not.toContain(keyId);
    expect(await service.ok("keys.updateKey", { keyId, name: "later" })).toEqual({});
    expect(await service.ok("keys.deleteKey", { keyId })).toEqual({});
  });

  test("spec 2.2 key: the full key, <prefix>_<random> when a prefix is given", async () => {
    const { key } = await created({ prefix: "pay_live" });
    expect(key).toMatch(/^pay_live_[1-9A-HJ-NP-Za-km-z]{22,}$/);
    const plain = await service.ok("keys.createKey", { apiId });
    expect(plain.key).toMatch(/^[1-9A-HJ-NP-Za-km-z]{22,}$/);
    expect(Object.keys(plain).sort()).toEqual(["key", "keyId"]);
  });
});

describe("spec 2.3: creation inputs", () => {
  test("spec 2.3 expires: a Unix timestamp in milliseconds, so one in seconds lies in the past", async () => {
    const inSeconds = Math.floor((START + 60_000) / 1_000);
    const { status } = await service.call("keys.createKey", { apiId, expires: inSeconds });
    expect(status).toBe(400);
    const { key } = await created({ expires: START + 1 });
    expect((await service.ok("keys.verifyKey", { key })).valid).toBe(true);
    service.advance(1);
    expect((await service.ok("keys.verifyKey", { key })).code).toBe("EXPIRED");
  });
});

describe("spec 2.4: the refill object", () => {
  test("spec 2.4 interval: daily or monthly, required", async () => {
    for (const interval of ["daily", "monthly", "hourly", "weekly", { every: "90m" }])
      await service.ok("keys.createKey", { apiId, remaining: 1, refill: { interval, amount: 1 } });
    for (const interval of ["yearly", "Daily", "", null, 1, [], undefined]) {
      const refill = { interval, amount: 1 };
      const { status, body } = await service.call("keys.createKey", {
        apiId,
        remaining: 1,
        refill,
      });
      expect(status).toBe(400);
      expect(body.error.issues[0].path).toBe("refill.interval");
    }
  });

  test("spec 2.4 amount: verifications restored per refill, a whole number of at least 1", async () => {
    const refill = { interval: "daily", amount: 3 };
    const { keyId, key } = await created({ remaining: 1, refill });
    await service.ok("keys.verifyKey", { key });
    expect((await service.ok("keys.getKey", { keyId })).remaining).toBe(0);
    service.advance(24 * 3_600_000);
    expect((await service.ok("keys.getKey", { keyId })).remaining).toBe(3);
    for (const amount of [0, -1, 1.5, "3", null, undefined, 2 ** 53]) {
      const { body } = await service.call("keys.createKey", {
        apiId,
        remaining: 1,
        refill: { interval: "daily", amount },
      });
      expect(body.error?.issues[0].path).toBe("refill.amount");
    }
  });

  test("spec 2.4 refillDay: day of the month, 1 to 31, 1 unless given, last day of shorter months", async () => {
    const refill = { interval: "monthly", amount: 9, refillDay: 31 };
    const { keyId, key } = await created({ remaining: 1, refill });
    await service.ok("keys.verifyKey", { key });
    service.advance(Date.UTC(2026, 3, 1) - service.now());
    await service.ok("keys.updateRemaining", { keyId, op: "set", value: 0 });
    service.advance(Date.UTC(2026, 3, 30) - 1 - service.now());
    expect((await service.ok("keys.getKey", { keyId })).remaining).toBe(0);
    service.advance(1);
    expect((await service.ok("keys.getKey", { keyId })).remaining).toBe(9);

    const byDefault = await service.ok("keys.createKey", {
      apiId,
      remaining: 1,
      refill: { interval: "monthly", amount: 1 },
    });
    const { refill: listed } = await service.ok("keys.getKey", { keyId: byDefault.keyId });
    expect(listed.refillDay).toBe(1);
    for (const refillDay of [0, 32, -1, 1.5, "1", null]) {
      const { body } = await service.call("keys.createKey", {
        apiId,
        remaining: 1,
        refill: { ...refill, refillDay },
      });
      expect(body.error?.issues[0].path).toBe("refill.refillDay");
    }
  });
});

describe("spec 2.5: the rate-limit object", () => {
  test("spec 2.5 type: accepted on creation as fast or consistent, and listed", async () => {
    for (const type of ["fast", "consistent"]) {
      const { keyId } = await service.ok("keys.createKey", {
        apiId,
        ratelimit: { type, limit: 1, duration: 1 },
      });
      expect((await service.ok("keys.getKey", { keyId })).ratelimit.type).toBe(type);
    }
    const ratelimit = { type: "slow", limit: 1, duration: 1 };
    const { body } = await service.call("keys.createKey", { apiId, ratelimit });
    expect(body.error.issues[0].path).toBe("ratelimit.type");
  });

  test("spec 2.5 async: present in the list form, and accepted on creation", async () => {
    const { listed } = await created({ ratelimit: { limit: 1, duration: 1 } });
    expect(typeof listed.ratelimit.async).toBe("boolean");
    const { keyId } = await service.ok("keys.createKey", {
      apiId,
      ratelimit: { async: true, limit: 1, duration: 1 },
    });
    expect((await service.ok("keys.getKey", { keyId })).ratelimit.async).toBe(true);
  });

  test("spec 2.5 limit: requests allowed per window, the next one is refused", async () => {
    const { key } = await created({ ratelimit: { limit: 2, duration: 60_000 } });
    expect((await service.ok("keys.verifyKey", { key })).valid).toBe(true);
    expect((await service.ok("keys.verifyKey", { key })).valid).toBe(true);
    expect((await service.ok("keys.verifyKey", { key })).code).toBe("RATE_LIMITED");
    for (const limit of [0, -1, 1.5, "1", null, undefined]) {
      const { body } = await service.call("keys.createKey", {
        apiId,
        ratelimit: { limit, duration: 1 },
      });
      expect(body.error?.issues[0].path).toBe("ratelimit.limit");
    }
  });

  test("spec 2.5 duration: length of the fixed window in milliseconds", async () => {
    const { key } = await created({ ratelimit: { limit: 1, duration: 60_000 } });
    await service.ok("keys.verifyKey", { key });
    const { ratelimit } = await service.ok("keys.verifyKey", { key });
    expect(ratelimit).toEqual({ limit: 1, remaining: 0, reset: START - 12_345 + 60_000 });
    service.advance(ratelimit.reset - 1 - service.now());
    expect((await service.ok("keys.verifyKey", { key })).code).toBe("RATE_LIMITED");
    service.advance(1);
    expect((await service.ok("keys.verifyKey", { key })).valid).toBe(true);
    for (const duration of [0, -1, 1.5, "1", null, undefined]) {
      const { body } = await service.call("keys.createKey", {
        apiId,
        ratelimit: { limit: 1, duration },
      });
      expect(body.error?.issues[0].path).toBe("ratelimit.duration");
    }
  });
});
