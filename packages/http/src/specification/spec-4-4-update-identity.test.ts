import { beforeEach, describe, expect, test } from "vitest";
import { openService, type TestService } from "../testing/open-service.js";

let service: TestService;
let identityId: string;

const LIMITS = [{ name: "requests", limit: 2, duration: 60_000 }];

beforeEach(async () => {
  service = await openService();
  ({ identityId } = await service.ok("identities.createIdentity", {
    externalId: "user_1",
    meta: { plan: "free" },
    ratelimits: LIMITS,
  }));
});

const update = (fields: object) => service.ok("identities.updateIdentity", fields);
const read = () => service.ok("identities.getIdentity", { identityId });

async function refuse(fields: object): Promise<string[]> {
  const before = await read();
  const { status, body } = await service.call("identities.updateIdentity", fields);
  expect(status).toBe(400);
  expect(await read()).toEqual(before);
  return body.error.issues.map(({ path }: { path: string }) => path);
}

describe("spec 4.4: POST /v1/identities.updateIdentity, its body", () => {
  test("spec 4.4 identityId: names the identity, at least 1 character", async () => {
    expect((await update({ identityId, meta: { plan: "pro" } })).meta).toEqual({ plan: "pro" });
    for (const value of ["", null, 1, []])
      expect(await refuse({ identityId: value })).toEqual(["identityId"]);
    const unknown = await service.call("identities.updateIdentity", { identityId: "id_unknown" });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "NOT_FOUND"]);
  });

  test("spec 4.4 externalId: names the identity by the caller's id, at least 1 character", async () => {
    expect((await update({ externalId: "user_1", meta: {} })).id).toBe(identityId);
    for (const value of ["", null, 1, []])
      expect(await refuse({ externalId: value })).toEqual(["externalId"]);
    const unknown = await service.call("identities.updateIdentity", { externalId: "nobody" });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "NOT_FOUND"]);
  });

  test("spec 4.4 environment: accepted and not used, checked as a string", async () => {
    const unchanged = await read();
    expect(await update({ identityId, environment: "live" })).toEqual(unchanged);
    expect(await refuse({ identityId, environment: 1 })).toEqual(["environment"]);
  });

  test("spec 4.4 meta: replaces the metadata; {} clears it, omitted leaves it", async () => {
    expect((await update({ identityId, meta: { a: 1 } })).meta).toEqual({ a: 1 });
    expect((await update({ identityId })).meta).toEqual({ a: 1 });
    expect((await update({ identityId, meta: {} })).meta).toEqual({});
    expect((await read()).meta).toEqual({});
    for (const meta of [null, [], "x", 1])
      expect(await refuse({ identityId, meta })).toEqual(["meta"]);
  });

  test("spec 4.4 ratelimits: overwrite all; [] deletes all, omitted leaves them; keys see them at once", async () => {
    const { apiId } = await service.ok("apis.createApi", { name: "payments" });
    const { key } = await service.ok("keys.createKey", { apiId, externalId: "user_1" });
    const use = (name: string) => service.call("keys.verifyKey", { key, ratelimits: [{ name }] });
    expect((await use("requests")).body.ratelimits[0].limit).toBe(2);

    const replaced = [{ name: "tokens", limit: 9, duration: 1_000 }];
    expect((await update({ identityId, ratelimits: replaced })).ratelimits).toEqual(replaced);
    expect((await update({ identityId })).ratelimits).toEqual(replaced);
    expect((await use("tokens")).body.ratelimits[0].limit).toBe(9);
    expect((await use("requests")).status).toBe(400);

    expect((await update({ identityId, ratelimits: [] })).ratelimits).toEqual([]);
    expect((await use("tokens")).status).toBe(400);

    for (const ratelimits of [null, {}, "x"])
      expect(await refuse({ identityId, ratelimits })).toEqual(["ratelimits"]);
    const twice = [...LIMITS, ...LIMITS];
    expect(await refuse({ identityId, ratelimits: twice })).toEqual(["ratelimits.1.name"]);
    const many = Array.from({ length: 51 }, (_, at) => ({ name: `n${at}`, limit: 1, duration: 1 }));
    expect(await refuse({ identityId, ratelimits: many })).toEqual(["ratelimits"]);
    const odd = ["__proto__", "a:b", "{x}", "a\r\nb", "constructor"].map((name) => ({
      name,
      limit: 1,
      duration: 1,
    }));
    expect((await update({ identityId, ratelimits: odd })).ratelimits).toEqual(odd);
  });
});

describe("spec 4.4: the rules of updateIdentity", () => {
  test("spec 4.4 rule 1: either id will do, identityId takes precedence, neither is refused", async () => {
    await service.ok("identities.createIdentity", { externalId: "user_2" });
    const meta = { changed: true };
    const answer = await update({ identityId, externalId: "user_2", meta });
    expect(answer).toMatchObject({ id: identityId, externalId: "user_1", meta });
    const { meta: other } = await service.ok("identities.getIdentity", { externalId: "user_2" });
    expect(other).toEqual({});
    expect(await refuse({})).toEqual(["identityId"]);
    expect(await refuse({ meta: {} })).toEqual(["identityId"]);
  });

  test("spec 4.4 rule 2: ratelimits replaces the full set, it is not merged", async () => {
    const ratelimits = [{ name: "tokens", limit: 1, duration: 1 }];
    expect((await update({ identityId, ratelimits })).ratelimits).toEqual(ratelimits);
    expect((await read()).ratelimits).toEqual(ratelimits);
  });
});

describe("spec 4.4: POST /v1/identities.updateIdentity, its answer", () => {
  test("spec 4.4 response id: of the updated identity", async () => {
    expect((await update({ identityId })).id).toBe(identityId);
  });

  test("spec 4.4 response externalId: of the updated identity, never changed", async () => {
    expect((await update({ identityId, meta: { a: 1 } })).externalId).toBe("user_1");
  });

  test("spec 4.4 response meta: after the update, always there", async () => {
    expect((await update({ identityId })).meta).toEqual({ plan: "free" });
    expect((await update({ identityId, meta: {} })).meta).toEqual({});
  });

  test("spec 4.4 response ratelimits: after the update, always there, and nothing else is answered", async () => {
    const answer = await update({ identityId });
    expect(answer.ratelimits).toEqual(LIMITS);
    expect(Object.keys(answer).sort()).toEqual(["externalId", "id", "meta", "ratelimits"]);
    expect((await update({ identityId, ratelimits: [] })).ratelimits).toEqual([]);
  });
});
