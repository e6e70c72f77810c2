import { beforeEach, describe, expect, test } from "vitest";
import { openService, START, type TestService } from "../testing/open-service.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
});

const create = (fields: object = {}) => service.ok("keys.createKey", { apiId, ...fields });
const get = (keyId: string) => service.ok("keys.getKey", { keyId });

/** Each value must be refused, by the path of the field alone, and nothing may have been written. */
async function expectRefused(field: string, values: readonly unknown[], rest: object = {}) {
  const { total: before } = await service.ok("apis.listKeys", { apiId });
  for (const value of values) {
    const { status, body } = await service.call("keys.createKey", {
      apiId,
      ...rest,
      [field]: value,
    });
    expect(status, `${field}: ${JSON.stringify(value)}`).toBe(400);
    expect(body.error.code).toBe("BAD_REQUEST");
    const paths: string[] = body.error.issues.map(({ path }: { path: string }) => path);
    expect(paths.every((path) => path === field || path.startsWith(`${field}.`))).toBe(true);
  }
  expect((await service.ok("apis.listKeys", { apiId })).total).toBe(before);
}

const NO_STRINGS = [null, 1, true, [], {}];

describe("spec 4.2: POST /v1/keys.createKey, its body", () => {
  test("spec 4.2 apiId: required, the API in which the key is created", async () => {
    expect((await get((await create()).keyId)).apiId).toBe(apiId);
    const missing = await service.call("keys.createKey", {});
    expect(missing.status).toBe(400);
    expect(missing.body.error.issues).toEqual([{ path: "apiId", message: "is required" }]);
    const unknown = await service.call("keys.createKey", { apiId: "api_unknown" });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "NOT_FOUND"]);
    await expectRefused("apiId", ["", ...NO_STRINGS]);
  });

  test("spec 4.2 prefix: at most 16 characters, joined by an underscore that is added by itself", async () => {
    const longest = "abcdefgh_ijklmno";
    expect(longest).toHaveLength(16);
    for (const prefix of ["a", "pay_live", "A-9", longest])
      expect((await create({ prefix })).key.startsWith(`${prefix}_`)).toBe(true);
    expect((await create({ prefix: "" })).key).not.toContain("_");
    await expectRefused("prefix", [`${longest}x`, "_", "a_", "a b", "../", "a\r\nb", "😀", "é"]);
    await expectRefused("prefix", NO_STRINGS);
  });

  test("spec 4.2 name: kept for listings, never part of a verification's identity", async () => {
    for (const name of ["server 1", "<script>alert(1)</script>", "\u202e\u2028😀", "x".repeat(256)])
      expect((await get((await create({ name })).keyId)).name).toBe(name);
    await expectRefused("name", ["", "x".repeat(257), "a\u0000b", "\ud800", ...NO_STRINGS]);
  });

  test("spec 4.2 byteLength: 16 to 255 random bytes, 16 unless given", async () => {
    const byDefault = await create();
    const sixteen = await create({ byteLength: 16 });
    expect(Math.abs(byDefault.key.length - sixteen.key.length)).toBeLessThanOrEqual(1);
    const longest = await create({ byteLength: 255 });
    expect(longest.key.length).toBeGreaterThan(300);
    expect((await service.ok("keys.verifyKey", { key: longest.key })).valid).toBe(true);
    await expectRefused("byteLength", [15, 256, 0, -16, 16.5, 1e9, "16", null, true, [16]]);
  });

  test("spec 4.2 ownerId: deprecated, links the identity if externalId is omitted", async () => {
    const { keyId } = await create({ ownerId: "user_1" });
    expect((await get(keyId)).identity.externalId).toBe("user_1");
    const both = await create({ ownerId: "user_1", externalId: "user_2" });
    expect((await get(both.keyId)).ownerId).toBe("user_2");
    await expectRefused("ownerId", ["", "x".repeat(256), ...NO_STRINGS]);
  });

  test("spec 4.2 externalId: links the identity, creates a missing one, and is returned at verification", async () => {
    const first = await create({ externalId: "user_1" });
    const second = await create({ externalId: "user_1" });
    const verdict = await service.ok("keys.verifyKey", { key: first.key });
    expect(verdict.identity).toEqual({ id: expect.any(String), externalId: "user_1", meta: {} });
    expect(verdict.ownerId).toBe("user_1");
    expect((await get(second.keyId)).identity.id).toBe(verdict.identity.id);
    expect((await service.ok("identities.listIdentities")).total).toBe(1);
    await expectRefused("externalId", ["", "x".repeat(256), ...NO_STRINGS]);
    expect((await service.ok("identities.listIdentities")).total).toBe(1);
  });

  test("spec 4.2 meta: free-form, returned as given, at most 16 KiB and 16 levels", async () => {
    const meta = JSON.parse(
      `{"a":0.1,"b":[null,{"c":"NOSCRIPT ' OR 1=1"}],"toString":"x","then":1}`,
    );
    expect((await get((await create({ meta })).keyId)).meta).toEqual(meta);
    const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
    const sized = (bytes: number) => ({ a: "é".repeat((bytes - '{"a":""}'.length) / 2) });
    await create({ meta: nested(16) });
    await create({ meta: sized(16_384) });
    await expectRefused("meta", [nested(17), sized(16_386), null, [], "{}", 1, true]);
    await expectRefused("meta", [JSON.parse('{"__proto__":{"admin":true}}')]);
    await expectRefused("meta", [JSON.parse('{"a":{"constructor":{"prototype":{"b":1}}}}')]);
    expect(Object.hasOwn(Object.prototype, "admin")).toBe(false);
  });

  test("spec 4.2 roles: each must exist, or all missing names are listed and nothing is written", async () => {
    await service.latchkey.createRole({ name: "admin" });
    const { keyId } = await create({ roles: ["admin", "admin"] });
    expect((await get(keyId)).roles).toEqual(["admin"]);
    const { status, body } = await service.call("keys.createKey", {
      apiId,
      externalId: "user_1",
      roles: ["admin", "ghost", "Admin"],
    });
    expect([status, body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
    expect(body.error.message).toMatch(/ghost/);
    expect(body.error.message).toMatch(/\bAdmin\b/);
    expect((await service.ok("apis.listKeys", { apiId })).total).toBe(1);
    expect((await service.ok("identities.listIdentities")).total).toBe(0);
    await expectRefused("roles", [null, "admin", {}, [null], [[]], [""], ["admin "], [1]]);
    await expectRefused("roles", [Array.from({ length: 101 }, () => "admin")]);
  });

  test("spec 4.2 permissions: each must exist, or all missing names are listed and nothing is written", async () => {
    await service.latchkey.createPermission({ name: "docs.read" });
    const { key } = await create({ permissions: ["docs.read", "docs.read"] });
    expect((await service.ok("keys.verifyKey", { key })).permissions).toEqual(["docs.read"]);
    const { status, body } = await service.call("keys.createKey", {
      apiId,
      permissions: ["docs.write", "docs.read", "docs.delete"],
      roles: ["ghost"],
    });
    expect([status, body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
    for (const name of ["docs.write", "docs.delete", "ghost"])
      expect(body.error.message).toContain(name);
    expect(body.error.message).not.toContain("docs.read");
    expect((await service.ok("apis.listKeys", { apiId })).total).toBe(1);
    await expectRefused("permissions", [null, "docs.read", {}, [null], [[]], [""], ["a b"]]);
  });

  test("spec 4.2 expires: milliseconds later than now, invalid from that instant until enabled again", async () => {
    const { keyId, key } = await create({ expires: START + 10 });
    service.advance(10);
    expect((await service.ok("keys.verifyKey", { key })).code).toBe("EXPIRED");
    await service.ok("keys.updateKey", { keyId, enabled: true });
    expect((await service.ok("keys.verifyKey", { key })).valid).toBe(true);
    const now = service.now();
    await expectRefused("expires", [now, now - 1, 0, -1, 1.7e9, now + 0.5, 1e18, 2 ** 53]);
    await expectRefused("expires", [String(now + 1), "2030-01-01", null, true, []]);
  });

  test("spec 4.2 remaining: the maximum number of requests, disabled at 0 until updated", async () => {
    const { keyId, key } = await create({ remaining: 1 });
    expect((await service.ok("keys.verifyKey", { key })).remaining).toBe(0);
    expect((await service.ok("keys.verifyKey", { key })).code).toBe("USAGE_EXCEEDED");
    await service.ok("keys.updateKey", { keyId, remaining: 1 });
    expect((await service.ok("keys.verifyKey", { key })).valid).toBe(true);
    await create({ remaining: Number.MAX_SAFE_INTEGER });
    await expectRefused("remaining", [0, -1, 1.5, 2 ** 53, "10", null, true]);
  });

  test("spec 4.2 refill: restores verifications at regular intervals, only with remaining", async () => {
    const { key } = await create({ remaining: 1, refill: { interval: "daily", amount: 2 } });
    await service.ok("keys.verifyKey", { key });
    service.advance(24 * 3_600_000);
    expect((await service.ok("keys.verifyKey", { key })).remaining).toBe(1);
    await expectRefused("refill", [{ interval: "daily", amount: 1 }]);
    const withUses = { remaining: 1 };
    await expectRefused("refill", [null, [], "daily", {}, { interval: "daily" }], withUses);
    await expectRefused("refill", [{ interval: "daily", amount: 1, refillDay: 1 }], withUses);
    await expectRefused("refill", [{ interval: "daily", amount: 1, every: 2 }], withUses);
  });

  test("spec 4.2 ratelimit: type, limit and duration; the limit applies to every verification", async () => {
    const { key } = await create({ ratelimit: { type: "fast", limit: 1, duration: 60_000 } });
    expect((await service.ok("keys.verifyKey", { key })).ratelimit.remaining).toBe(0);
    expect((await service.ok("keys.verifyKey", { key })).code).toBe("RATE_LIMITED");
    await expectRefused("ratelimit", [null, [], 1, {}, { limit: 1 }, { duration: 1 }]);
    await expectRefused("ratelimit", [{ limit: 1, duration: 1, async: "true" }]);
    await expectRefused("ratelimit", [{ limit: 1, duration: 1, burst: 2 }]);
  });

  test("spec 4.2 enabled: true unless given; false creates the key disabled", async () => {
    expect((await get((await create()).keyId)).enabled).toBe(true);
    expect((await get((await create({ enabled: true })).keyId)).enabled).toBe(true);
    expect((await get((await create({ enabled: false })).keyId)).enabled).toBe(false);
    await expectRefused("enabled", ["false", 0, 1, null, []]);
  });

  test("spec 4.2 recoverable: false unless given; true stores the key encrypted as well", async () => {
    const { keyId, key } = await create({ recoverable: true });
    const plain = await create();
    const decrypted = (id: string) => service.ok("keys.getKey", { keyId: id, decrypt: true });
    expect((await decrypted(keyId)).plaintext).toBe(key);
    expect(await decrypted(plain.keyId)).not.toHaveProperty("plaintext");
    await expectRefused("recoverable", ["true", 1, null]);

    const bare = await openService({ vault: false });
    const api = await bare.ok("apis.createApi", { name: "payments" });
    const refused = await bare.call("keys.createKey", { apiId: api.apiId, recoverable: true });
    expect([refused.status, refused.body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
    expect((await bare.ok("apis.listKeys", { apiId: api.apiId })).total).toBe(0);
  });

  test("spec 4.2 environment: at most 256 characters, returned when the key is validated", async () => {
    for (const environment of ["live", "x".repeat(256), "é".repeat(256)]) {
      const { key } = await create({ environment });
      expect((await service.ok("keys.verifyKey", { key })).environment).toBe(environment);
    }
    await expectRefused("environment", ["x".repeat(257), "a\u0000", ...NO_STRINGS]);
  });
});

describe("spec 4.2: POST /v1/keys.createKey, its answer", () => {
  test("spec 4.2 response keyId: names the new key; every call makes another", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => create()));
    expect(new Set(answers.map(({ keyId }) => keyId)).size).toBe(50);
    expect(new Set(answers.map(({ key }) => key)).size).toBe(50);
  });

  test("spec 4.2 response key: the full key, which verifies, and nothing else is answered", async () => {
    const answer = await create({ name: "server 1" });
    expect(Object.keys(answer).sort()).toEqual(["key", "keyId"]);
    const verdict = await service.ok("keys.verifyKey", { key: answer.key });
    expect(verdict).toMatchObject({ valid: true, keyId: answer.keyId, name: "server 1" });
  });
});
