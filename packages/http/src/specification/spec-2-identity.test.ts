import { beforeEach, describe, expect, test } from "vitest";
import { openService, type TestService } from "../testing/open-service.js";

let service: TestService;

beforeEach(async () => {
  service = await openService();
});

async function identityWith(fields: object = {}) {
  const externalId = "user_1";
  const { identityId } = await service.ok("identities.createIdentity", { externalId, ...fields });
  return service.ok("identities.getIdentity", { identityId });
}

describe("spec 2.6: an identity", () => {
  test("spec 2.6 id: the identity identifier", async () => {
    const identity = await identityWith();
    expect(identity.id).toMatch(/^id_/);
    const { identities } = await service.ok("identities.listIdentities");
    expect(identities[0].id).toBe(identity.id);
  });

  test("spec 2.6 externalId: the caller's own identifier, kept to the letter", async () => {
    expect((await identityWith()).externalId).toBe("user_1");
    const composed = "caf\u00e9";
    const decomposed = "cafe\u0301";
    for (const externalId of [composed, decomposed, "a b+c&d=e", "__proto__", "😀"])
      await service.ok("identities.createIdentity", { externalId });
    const { identities } = await service.ok("identities.listIdentities");
    expect(identities.map((identity: { externalId: string }) => identity.externalId)).toEqual([
      "user_1",
      composed,
      decomposed,
      "a b+c&d=e",
      "__proto__",
      "😀",
    ]);
  });

  test("spec 2.6 meta: returned in the key list, by the update and at verification", async () => {
    const { id, externalId } = await identityWith();
    const meta = { plan: "pro", nested: { on: [1, 2] } };
    const updated = await service.ok("identities.updateIdentity", { identityId: id, meta });
    expect(updated.meta).toEqual(meta);
    const { apiId } = await service.ok("apis.createApi", { name: "payments" });
    const { key } = await service.ok("keys.createKey", { apiId, externalId });
    const { keys } = await service.ok("apis.listKeys", { apiId });
    expect(keys[0].identity.meta).toEqual(meta);
    expect((await service.ok("keys.verifyKey", { key })).identity.meta).toEqual(meta);
  });

  test("spec 2.6 ratelimits: named limits that all keys of the identity share", async () => {
    const ratelimits = [{ name: "requests", limit: 2, duration: 60_000 }];
    expect((await identityWith({ ratelimits })).ratelimits).toEqual(ratelimits);
    const { apiId } = await service.ok("apis.createApi", { name: "payments" });
    const create = () => service.ok("keys.createKey", { apiId, externalId: "user_1" });
    const [first, second] = [await create(), await create()];
    const use = (key: string) =>
      service.ok("keys.verifyKey", { key, ratelimits: [{ name: "requests" }] });
    expect((await use(first.key)).valid).toBe(true);
    expect((await use(second.key)).valid).toBe(true);
    expect((await use(first.key)).code).toBe("RATE_LIMITED");
    expect((await use(second.key)).code).toBe("RATE_LIMITED");
  });
});

describe("spec 2.6: a rate limit of an identity", () => {
  test("spec 2.6 ratelimits.name: selects the limit at verification, 1 to 128 characters", async () => {
    await identityWith({
      ratelimits: [
        { name: "reads", limit: 9, duration: 1_000 },
        { name: "writes", limit: 3, duration: 1_000 },
      ],
    });
    const { apiId } = await service.ok("apis.createApi", { name: "payments" });
    const { key } = await service.ok("keys.createKey", { apiId, externalId: "user_1" });
    const verdict = await service.ok("keys.verifyKey", { key, ratelimits: [{ name: "writes" }] });
    expect(verdict.ratelimits).toMatchObject([{ name: "writes", limit: 3, remaining: 2 }]);
    for (const name of ["", "x".repeat(129), 1, null, undefined])
      await expectIssue({ name, limit: 1, duration: 1 }, "ratelimits.0.name");
  });

  test("spec 2.6 ratelimits.limit: number allowed per window, a whole number of at least 1", async () => {
    const ratelimits = [{ name: "requests", limit: 1, duration: 60_000 }];
    expect((await identityWith({ ratelimits })).ratelimits[0].limit).toBe(1);
    for (const limit of [0, -1, 1.5, "1", null, undefined])
      await expectIssue({ name: "requests", limit, duration: 1 }, "ratelimits.0.limit");
  });

  test("spec 2.6 ratelimits.duration: window length in milliseconds, a whole number of at least 1", async () => {
    const ratelimits = [{ name: "requests", limit: 1, duration: 1 }];
    expect((await identityWith({ ratelimits })).ratelimits[0].duration).toBe(1);
    for (const duration of [0, -1, 1.5, "1", null, undefined])
      await expectIssue({ name: "requests", limit: 1, duration }, "ratelimits.0.duration");
  });
});

async function expectIssue(ratelimit: object, path: string): Promise<void> {
  const { status, body } = await service.call("identities.updateIdentity", {
    externalId: "user_1",
    ratelimits: [ratelimit],
  });
  expect(status).toBe(400);
  expect(body.error.issues.map((issue: { path: string }) => issue.path)).toEqual([path]);
}
