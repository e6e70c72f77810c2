import { expect, test } from "vitest";
import { openService, START } from "../testing/open-service.js";

async function open(fields: object = {}) {
  const service = await openService();
  const { apiId } = await service.ok("apis.createApi", { name: "payments" });
  const { keyId, key } = await service.ok("keys.createKey", { apiId, ...fields });
  return { service, apiId, keyId, key };
}

test("returns the verdict with every check, and charges nothing", async () => {
  const { service, key, keyId } = await open({ remaining: 1 });
  for (let again = 0; again < 2; again += 1) {
    const verdict = await service.ok("keys.verifyKey", { key, dryRun: true });
    expect(verdict).toMatchObject({ valid: true, code: "VALID", remaining: 0, keyId });
    expect(verdict.checks.map(({ check }: { check: string }) => check)).toEqual([
      "exists",
      "enabled",
      "api",
      "expiry",
      "address",
      "permissions",
      "uses",
    ]);
  }
});

test("shows what is missing, and whether waiting helps", async () => {
  const { service, key } = await open({ ratelimit: { limit: 1, duration: 60_000 } });
  await service.ok("keys.verifyKey", { key });
  const { checks, code } = await service.ok("keys.verifyKey", {
    key,
    authorization: { permissions: { or: ["docs.read", "docs.write"] } },
    dryRun: true,
  });
  expect(code).toBe("INSUFFICIENT_PERMISSIONS");
  const retryAfterMs = 60_000 - (START % 60_000);
  expect(checks.filter(({ passed }: { passed: boolean }) => !passed)).toEqual([
    { check: "permissions", passed: false, missing: { or: ["docs.read", "docs.write"] } },
    {
      check: "ratelimit",
      passed: false,
      name: "default",
      limit: 1,
      remaining: 0,
      cost: 1,
      reset: START + retryAfterMs,
      retryAfterMs,
    },
  ]);
});

test("has one check for an unknown secret, and for a key of an API that the caller may not verify", async () => {
  const { service, key } = await open();
  const token = await service.rootKey("api.api_other.verify_key");
  const unknown = await service.ok("keys.verifyKey", { key: "no such key", dryRun: true });
  const hidden = await service.ok("keys.verifyKey", { key, dryRun: true }, { token });
  for (const { requestId: _requestId, ...verdict } of [unknown, hidden]) {
    expect(verdict).toEqual({
      valid: false,
      code: "NOT_FOUND",
      checks: [{ check: "exists", passed: false }],
    });
  }
});

test("remembers nothing under an Idempotency-Key", async () => {
  const { service, key } = await open({ remaining: 1 });
  const headers = { "idempotency-key": "one" };
  await service.ok("keys.verifyKey", { key, dryRun: true }, { headers });
  const real = await service.ok("keys.verifyKey", { key }, { headers });
  expect(real).toMatchObject({ valid: true, remaining: 0 });
  expect(real).not.toHaveProperty("checks");
});

test("needs a root key that may verify, like the call itself", async () => {
  const { service, key } = await open();
  const token = await service.rootKey("api.*.read_key");
  const { status } = await service.call("keys.verifyKey", { key, dryRun: true }, { token });
  expect(status).toBe(403);
});

test("explainKey does the same by the id of the key, for a root key that may read it", async () => {
  const { service, key, keyId, apiId } = await open({ remaining: 1 });
  const token = await service.rootKey(`api.${apiId}.read_key`);
  for (let again = 0; again < 2; again += 1) {
    const { requestId: _, ...explained } = await service.ok(
      "keys.explainKey",
      { keyId },
      { token },
    );
    const { requestId: __, ...asked } = await service.ok("keys.verifyKey", { key, dryRun: true });
    expect(explained).toEqual(asked);
    expect(explained).toMatchObject({ valid: true, code: "VALID", remaining: 0, keyId });
  }
  await service.ok("keys.updateKey", { keyId, enabled: false });
  const { code, checks } = await service.ok("keys.explainKey", { keyId }, { token });
  expect(code).toBe("DISABLED");
  expect(checks).toContainEqual({ check: "enabled", passed: false });
});
