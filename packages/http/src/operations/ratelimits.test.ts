import { describe, expect, test } from "vitest";
import { openService, START } from "../testing/open-service.js";

const request = { namespace: "mail.v1", identifier: "user_1", limit: 2, duration: 60_000 };
const reset = START - (START % 60_000) + 60_000;

describe("ratelimits.limit", () => {
  test("is 200 with or without room", async () => {
    const service = await openService();
    const seen = [];
    for (const cost of [1, 0, 2, 1, 1])
      seen.push(await service.ok("ratelimits.limit", { ...request, cost }));
    expect(seen).toEqual([
      { success: true, limit: 2, remaining: 1, reset },
      { success: true, limit: 2, remaining: 1, reset },
      { success: false, limit: 2, remaining: 1, reset },
      { success: true, limit: 2, remaining: 0, reset },
      { success: false, limit: 2, remaining: 0, reset },
    ]);
    service.advance(60_000);
    expect((await service.ok("ratelimits.limit", request)).success).toBe(true);
  });

  test("counts by its algorithm, and a shadow limit never refuses", async () => {
    const service = await openService();
    const bucket = { ...request, algorithm: "token-bucket", burst: 3 };
    expect(await service.ok("ratelimits.limit", { ...bucket, cost: 3 })).toEqual({
      success: true,
      limit: 2,
      remaining: 0,
      reset: START + 90_000,
      algorithm: "token-bucket",
      burst: 3,
    });
    expect(await service.ok("ratelimits.limit", bucket)).toEqual({
      ...{ success: false, limit: 2, remaining: 0, reset: START + 90_000 },
      ...{ algorithm: "token-bucket", burst: 3, retryAfterMs: 30_000 },
    });
    service.advance(30_000);
    expect(await service.ok("ratelimits.limit", bucket)).toMatchObject({ success: true });
    const tried = { ...request, algorithm: "sliding", shadow: true };
    expect(await service.ok("ratelimits.limit", { ...tried, cost: 3 })).toMatchObject({
      success: true,
      exceeded: true,
      remaining: 2,
      shadow: true,
    });
    const { status, body } = await service.call("ratelimits.limit", { ...request, burst: 3 });
    expect([status, body.error.message]).toEqual([
      400,
      expect.stringContaining('"burst" is only allowed with algorithm "token-bucket"'),
    ]);
  });

  test("keys and identities can have such limits, and verdicts, dry runs and usage show them", async () => {
    const service = await openService();
    const { apiId } = await service.ok("apis.createApi", { name: "tiles" });
    const sliding = { limit: 2, duration: 60_000, algorithm: "sliding" };
    const bucket = { limit: 2, duration: 60_000, algorithm: "token-bucket", burst: 3 };
    const { identityId } = await service.ok("identities.createIdentity", {
      externalId: "user_1",
      ratelimits: [{ name: "shared", ...bucket, shadow: true, autoApply: true }],
    });
    const { keyId, key } = await service.ok("keys.createKey", {
      apiId,
      externalId: "user_1",
      ratelimit: sliding,
    });
    expect(await service.ok("keys.getKey", { keyId })).toMatchObject({ ratelimit: sliding });
    expect(await service.ok("identities.getIdentity", { identityId })).toMatchObject({
      ratelimits: [{ name: "shared", ...bucket, shadow: true }],
    });
    const question = { key, ratelimits: [{ name: "shared", cost: 4 }] };
    const shared = { name: "shared", limit: 2, algorithm: "token-bucket", burst: 3, shadow: true };
    expect(await service.ok("keys.verifyKey", question)).toMatchObject({
      code: "VALID",
      ratelimits: [
        { name: "default", limit: 2, algorithm: "sliding", exceeded: false },
        { ...shared, exceeded: true },
      ],
    });
    const { checks } = await service.ok("keys.verifyKey", { ...question, dryRun: true });
    expect(checks).toContainEqual(
      expect.objectContaining({ ...shared, passed: true, exceeded: true, remaining: 3 }),
    );
    const { verifications } = await service.ok("keys.getVerifications", { keyId });
    expect(verifications.at(-1).outcomes).toEqual({ VALID: 1, SHADOW_LIMITED: 1 });
  });

  test("a token for one namespace takes only from that one, even if its name has dots", async () => {
    const service = await openService();
    const token = await service.rootKey("ratelimit.mail.v1.limit");
    const statuses = [];
    for (const namespace of ["mail.v1", "mail", "v1", "mail.v1.limit", "mail.v2", "default"])
      statuses.push(
        (await service.call("ratelimits.limit", { ...request, namespace }, { token })).status,
      );
    expect(statuses).toEqual([200, 403, 403, 403, 403, 403]);
    const { namespace: _, ...bare } = request;
    const byDefault = await service.rootKey("ratelimit.default.limit");
    expect((await service.call("ratelimits.limit", bare, { token: byDefault })).status).toBe(200);
    const { body } = await service.call("ratelimits.limit", bare, { token });
    expect(body.error.message).toBe(
      "this needs ratelimit.*.limit (or ratelimit.<namespace>.limit)",
    );
  });

  test("each workspace counts separately", async () => {
    const service = await openService();
    const elsewhere = service.latchkey.workspace("ws_other");
    const { key: token } = await elsewhere.createRootKey({ permissions: ["*"] });
    await service.ok("ratelimits.limit", { ...request, cost: 2 });
    expect((await service.ok("ratelimits.limit", request, { token })).remaining).toBe(1);
  });

  test("names the wrong field", async () => {
    const service = await openService();
    const { status, body } = await service.call("ratelimits.limit", {
      namespace: "*",
      identifier: "",
      limit: 0,
      duration: 0,
      cost: -1,
      burst: 1,
    });
    expect([status, body.error.issues.map(({ path }: { path: string }) => path)]).toEqual([
      400,
      ["namespace", "identifier", "limit", "duration", "cost", "burst"],
    ]);
  });
});

describe("ratelimits.resetLimit", () => {
  test("empties a limit of a key: its next use starts a new window", async () => {
    const service = await openService();
    const { apiId } = await service.latchkey.createApi({ name: "payments" });
    const ratelimit = { limit: 1, duration: 60_000 };
    const { keyId, key } = await service.ok("keys.createKey", { apiId, ratelimit });
    const verify = async () => (await service.ok("keys.verifyKey", { key })).code;
    expect([await verify(), await verify()]).toEqual(["VALID", "RATE_LIMITED"]);
    expect(await service.ok("ratelimits.resetLimit", { keyId, name: "default" })).toEqual({});
    expect([await verify(), await verify()]).toEqual(["VALID", "RATE_LIMITED"]);
  });

  test("empties a limit of an identity, for all of its keys", async () => {
    const service = await openService();
    const { apiId } = await service.latchkey.createApi({ name: "payments" });
    const { identityId } = await service.ok("identities.createIdentity", {
      externalId: "user_1",
      ratelimits: [{ name: "requests", limit: 1, duration: 60_000, autoApply: true }],
    });
    const { key } = await service.ok("keys.createKey", { apiId, externalId: "user_1" });
    const verify = async () => (await service.ok("keys.verifyKey", { key })).code;
    expect([await verify(), await verify()]).toEqual(["VALID", "RATE_LIMITED"]);
    await service.ok("ratelimits.resetLimit", { identityId, name: "requests" });
    expect(await verify()).toBe("VALID");
  });

  test("empties a limit of a namespace, and no other one", async () => {
    const service = await openService();
    const other = { ...request, identifier: "user_2" };
    for (const input of [request, other])
      await service.ok("ratelimits.limit", { ...input, cost: 2 });
    const { namespace, identifier, duration } = request;
    await service.ok("ratelimits.resetLimit", { namespace, identifier, duration });
    expect((await service.ok("ratelimits.limit", { ...request, cost: 0 })).remaining).toBe(2);
    expect((await service.ok("ratelimits.limit", { ...other, cost: 0 })).remaining).toBe(0);
  });

  test("is 400 for a name that no limit has, and 404 for a key that does not exist", async () => {
    const service = await openService();
    const { apiId } = await service.latchkey.createApi({ name: "payments" });
    const { keyId } = await service.ok("keys.createKey", { apiId });
    const reset = async (id: string) =>
      (await service.call("ratelimits.resetLimit", { keyId: id, name: "misspelt" })).status;
    expect([await reset(keyId), await reset("key_none")]).toEqual([400, 404]);
  });
});
