import { beforeEach, describe, expect, test } from "vitest";
import { openService, START, type TestService } from "../testing/open-service.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
});

describe("uses of an identity", () => {
  test("can be given, taken by its keys, read and set", async () => {
    const refill = { interval: "daily", amount: 9 };
    const { identityId } = await service.ok("identities.createIdentity", {
      externalId: "team",
      remaining: 3,
      refill,
    });
    const fields = { apiId, externalId: "team", usesFrom: "identity" };
    const one = await service.ok("keys.createKey", fields);
    const two = await service.ok("keys.createKey", fields);
    expect((await service.ok("keys.verifyKey", { key: one.key })).remaining).toBe(2);
    expect((await service.ok("keys.verifyKey", { key: two.key })).remaining).toBe(1);
    const shown = { remaining: 1, refill };
    expect(await service.ok("identities.getIdentity", { identityId })).toMatchObject(shown);
    expect(await service.ok("keys.getKey", { keyId: one.keyId })).toMatchObject({
      ...shown,
      usesFrom: "identity",
    });
    const after = await service.ok("identities.updateIdentity", { identityId, remaining: 7 });
    expect(after.remaining).toBe(7);
    const cleared = await service.ok("identities.updateIdentity", { identityId, remaining: null });
    expect("remaining" in cleared || "refill" in cleared).toBe(false);
    await service.ok("identities.deleteIdentity", { identityId });
    expect(await service.ok("keys.verifyKey", { key: one.key })).toMatchObject({
      code: "USAGE_EXCEEDED",
      remaining: 0,
    });
  });

  test("cannot be set through a key that takes from them: 412", async () => {
    const fields = { apiId, externalId: "team", usesFrom: "identity" };
    const { keyId } = await service.ok("keys.createKey", fields);
    for (const [name, input] of [
      ["keys.updateRemaining", { keyId, op: "set", value: 1 }],
      ["keys.updateKey", { keyId, remaining: 1 }],
      ["keys.updateKey", { keyId, refill: null }],
    ] as const) {
      const { status, body } = await service.call(name, input);
      expect([status, body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
    }
    expect(await service.ok("keys.updateKey", { keyId, usesFrom: "key", remaining: 1 })).toEqual(
      {},
    );
  });

  test("without an identity are an issue, listed together with all others", async () => {
    const { status, body } = await service.call("keys.createKey", {
      apiId,
      usesFrom: "identity",
      remaining: 0,
      expires: START,
      ratelimits: [{ name: "a", limit: 0, duration: 1 }],
    });
    expect([status, body.error.issues.map(({ path }: { path: string }) => path)]).toEqual([
      400,
      ["remaining", "ratelimits.0.limit", "usesFrom", "remaining", "expires"],
    ]);
  });
});

describe("a refill", () => {
  test.each([
    [{ interval: "hourly" }, {}],
    [{ interval: "weekly" }, { refillDay: 1 }],
    [{ interval: "weekly", refillDay: 7 }, {}],
    [{ interval: { every: "90m" } }, { interval: { every: 5_400_000 } }],
    [{ interval: "daily", carryOver: 20 }, {}],
  ])("with %j is accepted and shown, for a key and for an identity", async (given, filledIn) => {
    const uses = { remaining: 5, refill: { ...given, amount: 9 } };
    const shown = { remaining: 5, refill: { ...uses.refill, ...filledIn } };
    const { keyId } = await service.ok("keys.createKey", { apiId, ...uses });
    expect(await service.ok("keys.getKey", { keyId })).toMatchObject(shown);
    await service.ok("keys.updateKey", { keyId, refill: shown.refill });
    await service.ok("identities.createIdentity", { externalId: "team", ...uses });
    expect(await service.ok("identities.getIdentity", { externalId: "team" })).toMatchObject(shown);
  });

  test.each([
    [{ interval: "hourly", refillDay: 1 }, "refill.refillDay"],
    [{ interval: "weekly", refillDay: 8 }, "refill.refillDay"],
    [{ interval: { every: "59s" } }, "refill.interval.every"],
    [{ interval: { every: 59_999 } }, "refill.interval.every"],
    [{ interval: { evry: "90m" } }, "refill.interval.every"],
  ])("with %j is a 400 at %s", async (given, path) => {
    const refill = { ...given, amount: 9 };
    const { status, body } = await service.call("keys.createKey", { apiId, remaining: 5, refill });
    expect([status, body.error.issues[0].path]).toEqual([400, path]);
  });
});

describe("keys.updateRemaining", () => {
  test("changes the uses that the keys of an identity share, by either id of it", async () => {
    const { identityId } = await service.ok("identities.createIdentity", {
      externalId: "team",
      remaining: 5,
    });
    const raised = { identityId, op: "increment", value: 3 };
    expect(await service.ok("keys.updateRemaining", raised)).toEqual({ remaining: 8 });
    const lowered = { externalId: "team", op: "decrement", value: 8 };
    expect(await service.ok("keys.updateRemaining", lowered)).toEqual({ remaining: 0 });
    expect((await service.call("keys.updateRemaining", lowered)).status).toBe(412);
    const { status, body } = await service.call("keys.updateRemaining", {
      ...lowered,
      identityId,
    });
    expect([status, body.error.issues]).toEqual([
      400,
      [
        {
          path: "keyId",
          message: "exactly one of keyId, identityId and externalId must be given",
        },
      ],
    ]);
  });
});

describe("identities.deleteIdentity", () => {
  test("returns what happened to its keys, and 404 from then on", async () => {
    const { identityId } = await service.ok("identities.createIdentity", { externalId: "team" });
    const { keyId } = await service.ok("keys.createKey", { apiId, externalId: "team" });
    expect(await service.ok("identities.deleteIdentity", { identityId })).toEqual({
      keys: "unlinked",
    });
    for (const [name, input] of [
      ["identities.deleteIdentity", { identityId }],
      ["identities.getIdentity", { externalId: "team" }],
      ["identities.updateIdentity", { identityId, meta: {} }],
    ] as const)
      expect((await service.call(name, input)).status).toBe(404);
    expect("identity" in (await service.ok("keys.getKey", { keyId }))).toBe(false);
  });

  test("takes identityId and nothing else", async () => {
    const { body } = await service.call("identities.deleteIdentity", { externalId: "team" });
    expect(body.error.issues.map(({ path }: { path: string }) => path)).toEqual([
      "identityId",
      "externalId",
    ]);
  });
});

describe("named limits", () => {
  test("belong to a key or to an identity, always apply with autoApply, and are listed", async () => {
    const reads = { name: "reads", limit: 5, duration: 60_000, autoApply: true };
    await service.ok("identities.createIdentity", { externalId: "team", ratelimits: [reads] });
    const { key, keyId } = await service.ok("keys.createKey", {
      apiId,
      externalId: "team",
      ratelimit: { limit: 9, duration: 60_000 },
      ratelimits: [{ name: "tiles", limit: 3, duration: 60_000 }],
    });
    const verdict = await service.ok("keys.verifyKey", { key, ratelimits: [{ name: "tiles" }] });
    expect(verdict.ratelimits).toMatchObject([
      { name: "default", remaining: 8 },
      { name: "reads", remaining: 4 },
      { name: "tiles", remaining: 2 },
    ]);
    expect(verdict.ratelimit.limit).toBe(9);
    const { identities } = await service.ok("identities.listIdentities");
    expect(identities[0].ratelimits).toEqual([reads]);
    await service.ok("keys.updateKey", {
      keyId,
      ratelimits: [{ name: "tiles", limit: 7, duration: 1 }],
    });
    const shown = await service.ok("keys.getKey", { keyId });
    expect(shown.ratelimits).toEqual([
      { name: "tiles", limit: 7, duration: 1, autoApply: false, async: false },
    ]);
    expect("ratelimit" in shown).toBe(false);
  });
});
