import { describe, expect, test } from "vitest";
import { BY_HEADER } from "../testing/by-header.js";
import { createFixture } from "../testing/fixture.js";
import { openService, type TestService } from "../testing/open-service.js";
import { narrowed, widened } from "../testing/sample-calls.js";
import type { Sample } from "../testing/samples.js";
import { V2_SAMPLES as SAMPLES } from "../testing/v2-samples.js";
import { V2 } from "./contract.js";

const NEW_PERMISSION = "made.by.v2";

function callAs(service: TestService, name: string, input: object, permissions: readonly string[]) {
  const headers = { "x-permissions": JSON.stringify(permissions) };
  return service.call(name, input, { version: "v2", token: null, headers });
}

async function open() {
  const service = await openService(BY_HEADER);
  return { service, fixture: await createFixture(service) };
}

test("every operation has its row", () => {
  expect([...new Set(SAMPLES.map(({ name }) => name))].sort()).toEqual(
    V2.operations.map(({ name }) => name).sort(),
  );
});

describe.each(SAMPLES)("$title", (one) => {
  test("needs exactly its permissions, for all resources, or for this one if it names one", async () => {
    for (const permissions of [widened(one), ["*"]]) {
      const { service, fixture } = await open();
      expect((await callAs(service, one.name, one.input(fixture), permissions)).status).toBe(200);
    }
    const { service, fixture } = await open();
    for (const missing of widened(one)) {
      const others = widened(one).filter((permission) => permission !== missing);
      const { status, body } = await callAs(service, one.name, one.input(fixture), others);
      expect([status, body.error.title]).toEqual([403, "Forbidden"]);
      expect(body.error.detail).toContain(missing);
    }
    const forThisOne = narrowed(one, fixture);
    const { status } = await callAs(service, one.name, one.input(fixture), forThisOne);
    expect(status).toBe(one.isForAllOnly && !isRbac(one) ? 403 : 200);
  });
});

/** Permissions on roles and permissions have no form for a single one. */
function isRbac({ requiredPermissions }: Sample): boolean {
  return requiredPermissions.every((need) => need.startsWith("rbac."));
}

describe("v2 itself", () => {
  const root = ["*"];
  const ok = async (service: TestService, name: string, input: object, held = root) => {
    const { status, text, body } = await callAs(service, name, input, held);
    expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
    return body.data;
  };

  test("settings that only v1 can give a key are in its verdicts and views", async () => {
    const { service } = await open();
    const headers = { token: null, headers: { "x-permissions": JSON.stringify(root) } };
    const { apiId } = await service.ok("apis.createApi", { name: "tides" }, headers);
    const tags = ["eu", "beta"];
    const startsAt = service.now() + 1_000;
    const given = { apiId, tags, startsAt, expiresWhenUnused: 86_400_000 };
    const { keyId, key } = await service.ok("keys.createKey", given, headers);
    expect(await ok(service, "keys.verifyKey", { key })).toMatchObject({
      code: "NOT_STARTED",
      keyTags: tags,
    });
    expect(await ok(service, "keys.getKey", { keyId })).toMatchObject({
      tags,
      startsAt,
      idleExpiresAt: startsAt + 86_400_000,
    });
  });

  test("limits have algorithms and shadow, in every response that shows them", async () => {
    const { service, fixture } = await open();
    const bucket = { limit: 2, duration: 60_000, algorithm: "token-bucket", burst: 3 };
    const sliding = { limit: 2, duration: 60_000, algorithm: "sliding", shadow: true };
    const { key, keyId } = await ok(service, "keys.createKey", {
      apiId: fixture.apiId,
      ratelimits: [
        { name: "a", ...bucket, autoApply: true },
        { name: "b", ...sliding, autoApply: true },
      ],
    });
    expect(await ok(service, "keys.getKey", { keyId })).toMatchObject({
      ratelimits: [
        { id: "a", ...bucket },
        { id: "b", ...sliding },
      ],
    });
    const question = { key, ratelimits: [{ name: "b", cost: 3 }] };
    expect(await ok(service, "keys.verifyKey", question)).toMatchObject({
      valid: true,
      ratelimits: [
        { name: "a", algorithm: "token-bucket", burst: 3, remaining: 2, exceeded: false },
        { name: "b", algorithm: "sliding", shadow: true, remaining: 2, exceeded: true },
      ],
    });
    const one = { namespace: "mail", identifier: "user_1", cost: 3 };
    expect(await ok(service, "ratelimit.limit", { ...one, ...bucket })).toMatchObject({
      success: true,
      remaining: 0,
      burst: 3,
    });
    expect(await ok(service, "ratelimit.multiLimit", [{ ...one, ...bucket }])).toMatchObject({
      passed: false,
      limits: [{ passed: false, algorithm: "token-bucket", retryAfterMs: expect.any(Number) }],
    });
    expect(await ok(service, "ratelimit.multiLimit", [{ ...one, ...sliding }])).toMatchObject({
      passed: true,
      limits: [{ algorithm: "sliding", shadow: true, exceeded: true, remaining: 2 }],
    });
  });

  test("a missing permission is created if the caller may create it; otherwise nothing is changed", async () => {
    const { service, fixture } = await open();
    const input = { keyId: fixture.keyId, permissions: [NEW_PERMISSION] };
    const adding = ["rbac.*.add_permission_to_key"];
    expect((await callAs(service, "keys.addPermissions", input, adding)).status).toBe(412);
    const creating = [...adding, "rbac.*.create_permission"];
    expect(await ok(service, "keys.addPermissions", input, creating)).toMatchObject([
      { slug: NEW_PERMISSION },
    ]);
  });

  test("a caller that may only change a key cannot give it permissions", async () => {
    const { service, fixture } = await open();
    const input = { keyId: fixture.keyId, permissions: [fixture.permission] };
    for (const name of ["keys.updateKey", "keys.addPermissions", "keys.setPermissions"])
      expect((await callAs(service, name, input, ["api.*.update_key"])).status).toBe(403);
  });

  test("an identity is found by its id, even if that is the externalId of another one", async () => {
    const { service, fixture } = await open();
    const { identityId } = fixture;
    await ok(service, "identities.createIdentity", { externalId: identityId });
    await ok(service, "identities.createIdentity", { externalId: "id_2" });
    const found = await ok(service, "identities.getIdentity", { identity: identityId });
    expect(found.externalId).toBe(fixture.externalId);
    const other = await ok(service, "identities.getIdentity", { identity: "id_2" });
    expect(other.externalId).toBe("id_2");
  });

  test("a caller with permission for one identity gets the same refusal for another, whether it exists or not", async () => {
    const { service, fixture } = await open();
    const held = ["identity.id_mine.read_identity"];
    const details = await Promise.all(
      [fixture.externalId, fixture.identityId, "nobody", "id_none"].map(async (identity) => {
        const { status, body } = await callAs(
          service,
          "identities.getIdentity",
          { identity },
          held,
        );
        return [status, body.error.detail];
      }),
    );
    expect(details).toEqual(Array(4).fill([403, expect.stringContaining("read_identity")]));
  });

  test("a list that v1 returns as a whole comes in pages, each item once", async () => {
    const { service } = await open();
    for (const name of ["a", "b", "c"]) await service.latchkey.createRole({ name });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const input = { limit: 2, ...(cursor !== undefined && { cursor }) };
      const { body } = await callAs(service, "permissions.listRoles", input, root);
      names.push(...body.data.map(({ name }: { name: string }) => name));
      cursor = body.pagination.cursor;
      expect(body.pagination.hasMore).toBe(cursor !== undefined);
    } while (cursor !== undefined);
    expect(names.slice(1)).toEqual(["a", "b", "c"]);
    expect(names).toHaveLength(4);
  });

  test("a damaged cursor, or one of another list, is a bad request in every list", async () => {
    const { service } = await open();
    for (const name of ["a.read", "b.read"]) {
      await service.latchkey.createPermission({ name });
      await service.latchkey.createRole({ name });
    }
    const list = (name: string, input: object) => callAs(service, name, input, root);
    const ofRoles = (await list("permissions.listRoles", { limit: 1 })).body.pagination.cursor;
    for (const [name, cursor] of [
      ["permissions.listRoles", "garbage"],
      ["permissions.listPermissions", "garbage"],
      ["permissions.listPermissions", ofRoles],
      ["identities.listIdentities", "garbage"],
    ] as const) {
      const { status, body } = await list(name, { cursor });
      expect([status, body.error.errors]).toEqual([
        400,
        [expect.objectContaining({ location: expect.stringContaining("cursor") })],
      ]);
    }
  });

  test("a search finds identities by a part of either id, and continues where it stopped looking", async () => {
    const { service, fixture } = await open();
    const made: string[] = [];
    for (let at = 0; at < 230; at += 1)
      made.push((await service.latchkey.createIdentity({ externalId: `Pier-${at}` })).identityId);
    const search = (input: object) => callAs(service, "identities.listIdentities", input, root);
    const { body } = await search({ search: "pIER-22" });
    expect(body.data.map((one: { externalId: string }) => one.externalId)).toEqual([
      "Pier-22",
      ...Array.from({ length: 10 }, (_, at) => `Pier-22${at}`),
    ]);
    expect(body.pagination).toEqual({ hasMore: false });
    expect((await search({ search: fixture.identityId })).body.data).toHaveLength(1);
    const first = (await search({ search: "pier-229", limit: 1 })).body;
    expect([first.data, first.pagination.hasMore]).toEqual([[], true]);
    const { cursor } = first.pagination;
    const rest = (await search({ search: "pier-229", cursor })).body;
    expect(rest.data).toMatchObject([{ id: made[229] }]);
  });

  test("of an import with known keys, the others are all written, or none", async () => {
    const { service, fixture } = await open();
    const { apiId } = fixture;
    const hashes = ["a", "b", "c"].map((digit) => digit.repeat(64));
    const migrate = (keys: object[]) =>
      callAs(service, "keys.migrateKeys", { migrationId: "m", apiId, keys }, root);
    await migrate([{ hash: hashes[0] }, { hash: hashes[1] }]);
    const refused = await migrate([{ hash: hashes[0] }, { hash: hashes[2], roles: ["none"] }]);
    expect(refused.status).toBe(412);
    const { body } = await migrate(hashes.map((hash) => ({ hash })));
    expect(body.data.failed).toEqual(hashes.slice(0, 2));
    expect(body.data.migrated).toEqual([{ hash: hashes[2], keyId: expect.any(String) }]);
    expect((await migrate([{ hash: hashes[0] }])).body.data).toEqual({
      migrated: [],
      failed: [hashes[0]],
    });
  });

  test("an imported key may already be used up, as in v1", async () => {
    const { service, fixture } = await open();
    const keys = [{ hash: "d".repeat(64), credits: { remaining: 0 } }];
    const input = { migrationId: "m", apiId: fixture.apiId, keys };
    const { body } = await callAs(service, "keys.migrateKeys", input, root);
    const [{ keyId }] = body.data.migrated;
    expect((await ok(service, "keys.getKey", { keyId })).credits).toMatchObject({ remaining: 0 });
  });

  test("a verification charges the counters that v1 charges", async () => {
    const { service, fixture } = await open();
    const { keyId, key } = fixture;
    await service.latchkey.updateKey({ keyId, remaining: 3 });
    expect((await ok(service, "keys.verifyKey", { key })).credits).toBe(2);
    expect(await service.latchkey.verifyKey({ key })).toMatchObject({ remaining: 1 });
  });

  test("publicVerify opens keys.verifyKey and nothing else", async () => {
    const service = await openService({ publicVerify: true });
    const { key, keyId } = await createFixture(service);
    const nobody = { version: "v2", token: null } as const;
    expect((await service.call("keys.verifyKey", { key }, nobody)).body.data.valid).toBe(true);
    expect((await service.call("keys.getKey", { keyId }, nobody)).status).toBe(401);
  });
});
