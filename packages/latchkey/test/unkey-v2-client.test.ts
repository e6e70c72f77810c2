import { readdirSync, readFileSync } from "node:fs";
import { createLatchkey } from "@latchkey/core";
import { createHandler, type Handler } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import { Unkey } from "unkey-api-v2";
import { HTTPClient } from "unkey-api-v2/lib/http.js";
import { beforeEach, describe, expect, test } from "vitest";
import { VAULT_KEYS } from "./test-context.js";

// The published client of the successor of Unkey's v1 API, unchanged except for its base URL. It refuses every response that does not
// match its types.

/** A window from 1970 that does not end during any run, so that no test falls between two windows. */
const LONG_MS = 1e14;

let handler: Handler;
let unkey: Unkey;
let stranger: Unkey;

function clientOf(rootKey: string): Unkey {
  const httpClient = new HTTPClient({ fetcher: (input) => handler(input as Request) });
  return new Unkey({ rootKey, serverURL: "http://keys.test", httpClient });
}

beforeEach(async () => {
  const latchkey = createLatchkey({
    store: memoryStore(),
    vault: { current: "a", keys: { a: VAULT_KEYS[0] } },
  });
  handler = createHandler({ latchkey });
  unkey = clientOf((await latchkey.createRootKey({ permissions: ["*"] })).key);
  stranger = clientOf((await latchkey.createRootKey({ permissions: ["api.*.read_api"] })).key);
});

async function newApi(): Promise<string> {
  return (await unkey.apis.createApi({ name: "tide tables" })).data.apiId;
}

async function newKey(): Promise<{ readonly key: string; readonly keyId: string }> {
  return (await unkey.keys.createKey({ apiId: await newApi() })).data;
}

/** All items of a list, page by page. */
async function all<Item>(
  pages: Promise<AsyncIterable<{ readonly result: { readonly data: readonly Item[] } }>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const { result } of await pages) items.push(...result.data);
  return items;
}

describe("a client written for Unkey v2", () => {
  test("creates, reads and deletes an API", async () => {
    const apiId = await newApi();
    const { meta, data } = await unkey.apis.getApi({ apiId });
    expect(meta.requestId).toMatch(/^req_/);
    expect(data).toEqual({ id: apiId, name: "tide tables" });
    expect((await unkey.apis.deleteApi({ apiId })).data).toEqual({});
    await expect(unkey.apis.getApi({ apiId })).rejects.toMatchObject({ statusCode: 404 });
  });

  test("issues a key with every known setting, lists it and reads it back", async () => {
    const apiId = await newApi();
    await unkey.permissions.createPermission({ name: "Read tides", slug: "tides.read" });
    await unkey.permissions.createRole({ name: "harbour" });
    const expires = Date.now() + 3_600_000;
    const credits = {
      remaining: 10,
      refill: { interval: "monthly" as const, amount: 10, refillDay: 31 },
    };
    const limit = { name: "requests", limit: 5, duration: 60_000, autoApply: true };
    const { key, keyId } = (
      await unkey.keys.createKey({
        apiId,
        prefix: "tide",
        name: "harbour office",
        byteLength: 24,
        externalId: "harbour_7",
        meta: { plan: "gold" },
        roles: ["harbour"],
        permissions: ["tides.read"],
        expires,
        credits,
        ratelimits: [limit],
        enabled: true,
        recoverable: true,
      })
    ).data;
    const expected = {
      keyId,
      name: "harbour office",
      meta: { plan: "gold" },
      roles: ["harbour"],
      permissions: ["tides.read"],
      expires,
      credits,
      ratelimits: [{ id: "requests", ...limit }],
      identity: { externalId: "harbour_7" },
      enabled: true,
      plaintext: key,
    };
    await unkey.keys.createKey({ apiId });
    const listed = await all(unkey.apis.listKeys({ apiId, limit: 1, decrypt: true }));
    expect(listed).toHaveLength(2);
    expect(listed[0]).toMatchObject(expected);
    expect((await unkey.keys.getKey({ keyId, decrypt: true })).data).toMatchObject(expected);
    const { plaintext: _secret, ...unsecret } = expected;
    expect((await unkey.keys.whoami({ key })).data).toMatchObject(unsecret);
  });

  test("verifies a key and understands every verdict", async () => {
    const { key, keyId } = (
      await unkey.keys.createKey({
        apiId: await newApi(),
        externalId: "harbour_7",
        credits: { remaining: 2 },
        ratelimits: [{ name: "requests", limit: 100, duration: LONG_MS, autoApply: true }],
      })
    ).data;
    await unkey.keys.setPermissions({ keyId, permissions: ["tides.read", "tides.write"] });
    const verify = async (more: object = {}) =>
      (await unkey.keys.verifyKey({ key, credits: { cost: 0 }, ...more })).data;
    expect((await unkey.keys.verifyKey({ key, tags: ["path=/tides"] })).data).toMatchObject({
      valid: true,
      code: "VALID",
      keyId,
      enabled: true,
      credits: 1,
      permissions: ["tides.read", "tides.write"],
      identity: { externalId: "harbour_7" },
      ratelimits: [
        { id: "requests", name: "requests", remaining: 99, exceeded: false, autoApply: true },
      ],
    });
    const adHoc = { ratelimits: [{ name: "exports", limit: 1, duration: LONG_MS }] };
    expect(await verify(adHoc)).toMatchObject({ valid: true });
    expect(await verify(adHoc)).toMatchObject({ valid: false, code: "RATE_LIMITED" });
    expect(await verify({ permissions: "tides.read AND (admin OR tides.write)" })).toMatchObject({
      code: "VALID",
    });
    expect(await verify({ permissions: "tides.read AND admin" })).toMatchObject({
      code: "INSUFFICIENT_PERMISSIONS",
    });
    expect(await verify({ credits: { cost: 2 } })).toMatchObject({
      code: "USAGE_EXCEEDED",
      credits: 1,
    });
    await unkey.keys.updateKey({ keyId, enabled: false });
    expect(await verify()).toMatchObject({ code: "DISABLED", enabled: false });
    expect((await unkey.keys.verifyKey({ key: "no such key" })).data).toEqual({
      valid: false,
      code: "NOT_FOUND",
    });
  });

  test("changes, rerolls and deletes a key", async () => {
    const { key, keyId } = await newKey();
    await unkey.keys.updateKey({
      keyId,
      name: "renamed",
      externalId: "harbour_8",
      meta: null,
      credits: { remaining: 5, refill: { interval: "daily", amount: 5 } },
      ratelimits: [{ name: "requests", limit: 3, duration: 1_000 }],
      permissions: ["tides.write"],
    });
    const raised = await unkey.keys.updateCredits({ keyId, operation: "increment", value: 3 });
    expect(raised.data).toEqual({ remaining: 8 });
    expect((await unkey.keys.getKey({ keyId })).data).toMatchObject({
      name: "renamed",
      credits: { remaining: 8, refill: { interval: "daily", amount: 5 } },
      permissions: ["tides.write"],
    });
    await unkey.keys.updateKey({ keyId, credits: null });
    expect((await unkey.keys.getKey({ keyId })).data.credits).toBeUndefined();
    const next = (await unkey.keys.rerollKey({ keyId, expiration: 0 })).data;
    expect((await unkey.keys.verifyKey({ key })).data.code).toBe("EXPIRED");
    expect((await unkey.keys.verifyKey({ key: next.key })).data.valid).toBe(true);
    expect((await unkey.keys.deleteKey({ keyId: next.keyId })).data).toEqual({});
    expect((await unkey.keys.verifyKey({ key: next.key })).data.code).toBe("NOT_FOUND");
  });

  test("manages identities by either id", async () => {
    const ratelimits = [{ name: "requests", limit: 10, duration: 60_000, autoApply: false }];
    const { identityId } = (
      await unkey.identities.createIdentity({
        externalId: "harbour_7",
        meta: { plan: "gold" },
        ratelimits,
      })
    ).data;
    const identity = {
      id: identityId,
      externalId: "harbour_7",
      meta: { plan: "gold" },
      ratelimits: [{ id: "requests", ...ratelimits[0] }],
    };
    for (const either of [identityId, "harbour_7"])
      expect((await unkey.identities.getIdentity({ identity: either })).data).toEqual(identity);
    await unkey.identities.createIdentity({ externalId: "harbour_8" });
    expect(await all(unkey.identities.listIdentities({ limit: 1 }))).toMatchObject([
      { externalId: "harbour_7" },
      { externalId: "harbour_8" },
    ]);
    expect(await all(unkey.identities.listIdentities({ search: "BOUR_8" }))).toMatchObject([
      { externalId: "harbour_8" },
    ]);
    const changed = { identity: "harbour_7", meta: {}, ratelimits: [] };
    expect((await unkey.identities.updateIdentity(changed)).data).toEqual({
      ...identity,
      meta: {},
      ratelimits: [],
    });
    await unkey.identities.deleteIdentity({ identity: "harbour_7" });
    await expect(unkey.identities.getIdentity({ identity: identityId })).rejects.toMatchObject({
      statusCode: 404,
    });
  });

  test("manages permissions and roles, by ids and by names", async () => {
    const slug = "tides.read";
    const { permissionId } = (
      await unkey.permissions.createPermission({ name: slug, slug, description: "Read tides" })
    ).data;
    await unkey.permissions.createPermission({ name: "tides.write", slug: "tides.write" });
    const read = { id: permissionId, name: slug, slug, description: "Read tides" };
    for (const permission of [permissionId, slug])
      expect((await unkey.permissions.getPermission({ permission })).data).toEqual(read);
    expect(await all(unkey.permissions.listPermissions({ limit: 1 }))).toMatchObject([
      read,
      { slug: "tides.write" },
    ]);
    expect(await all(unkey.permissions.listPermissions({ search: "READ T" }))).toEqual([read]);
    const created = await unkey.permissions.createRole({ name: "harbour", permissions: [slug] });
    const { roleId } = created.data;
    const role = { id: roleId, name: "harbour", permissions: [read] };
    for (const either of [roleId, "harbour"])
      expect((await unkey.permissions.getRole({ role: either })).data).toEqual(role);
    expect(await all(unkey.permissions.listRoles({}))).toEqual([role]);
    const permissions = ["tides.write"];
    expect(
      (await unkey.permissions.setRolePermissions({ roleId: "harbour", permissions })).data,
    ).toMatchObject([{ slug: "tides.write" }]);
    await unkey.permissions.deleteRole({ role: "harbour" });
    await unkey.permissions.deletePermission({ permission: slug });
    expect(await all(unkey.permissions.listRoles({}))).toEqual([]);
  });

  test("gives keys roles, and permissions that are created if they are missing", async () => {
    const { keyId } = await newKey();
    for (const name of ["harbour", "pilot"]) await unkey.permissions.createRole({ name });
    const id = expect.any(String);
    const named = (slug: string) => ({ id, name: slug, slug });
    const added = await unkey.keys.addPermissions({ keyId, permissions: ["tides.read"] });
    expect(added.data).toEqual([named("tides.read")]);
    const set = await unkey.keys.setPermissions({ keyId, permissions: ["a", "tides.write"] });
    expect(set.data).toEqual([named("a"), named("tides.write")]);
    const left = await unkey.keys.removePermissions({ keyId, permissions: ["a"] });
    expect(left.data).toEqual([named("tides.write")]);
    const withRole = await unkey.keys.addRoles({ keyId, roles: ["harbour"] });
    expect(withRole.data).toEqual([{ id, name: "harbour" }]);
    const withOther = await unkey.keys.setRoles({ keyId, roles: ["pilot"] });
    expect(withOther.data).toEqual([{ id, name: "pilot" }]);
    expect((await unkey.keys.removeRoles({ keyId, roles: ["pilot"] })).data).toEqual([]);
    await expect(unkey.keys.addRoles({ keyId, roles: ["unknown"] })).rejects.toMatchObject({
      statusCode: 412,
    });
  });

  test("limits without a key, one or several at a time", async () => {
    const question = { namespace: "exports", identifier: "harbour_7", limit: 1, duration: LONG_MS };
    expect((await unkey.ratelimit.limit(question)).data).toMatchObject({
      success: true,
      limit: 1,
      remaining: 0,
    });
    const other = { ...question, identifier: "harbour_8" };
    expect((await unkey.ratelimit.multiLimit([question, other])).data).toMatchObject({
      passed: false,
      limits: [
        { namespace: "exports", identifier: "harbour_7", passed: false },
        { namespace: "exports", identifier: "harbour_8", passed: true },
      ],
    });
  });

  test("imports keys by their hashes, and learns which already exist", async () => {
    const apiId = await newApi();
    const hashOf = async (key: string) =>
      Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key)));
    const [first, second] = ["tide_live_4Jx8vQ2mZ7", "tide_live_9Hw3kR5nB1"] as const;
    const known = (await hashOf(first)).toString("base64");
    const fresh = (await hashOf(second)).toString("hex");
    const migrate = (...hashes: string[]) =>
      unkey.keys.migrateKeys({
        migrationId: "nightly",
        apiId,
        keys: hashes.map((hash) => ({ hash, credits: { remaining: 3 } })),
      });
    expect((await migrate(known)).data).toMatchObject({ migrated: [{ hash: known }], failed: [] });
    const { migrated, failed } = (await migrate(fresh, known)).data;
    expect(failed).toEqual([known]);
    expect((await unkey.keys.verifyKey({ key: second })).data).toMatchObject({
      valid: true,
      keyId: migrated[0]?.keyId,
      credits: 2,
    });
  });

  test("gets refusals in the expected error body", async () => {
    const meta = { requestId: expect.stringMatching(/^req_/) };
    const type = "about:blank";
    await expect(unkey.keys.getKey({ keyId: "key_none" })).rejects.toMatchObject({
      statusCode: 404,
      meta,
      error: { title: "Not Found", detail: "no such key", status: 404, type },
    });
    await expect(stranger.apis.createApi({ name: "forbidden" })).rejects.toMatchObject({
      statusCode: 403,
      error: { detail: expect.stringContaining("api.*.create_api") },
    });
    await expect(clientOf("unknown").apis.getApi({ apiId: "x" })).rejects.toMatchObject({
      statusCode: 401,
      error: { title: "Unauthorized" },
    });
    const bad = { apiId: "api_1", credits: { remaining: 0 }, byteLength: 1 };
    await expect(unkey.keys.createKey(bad)).rejects.toMatchObject({
      statusCode: 400,
      meta,
      error: {
        errors: [{ location: "body.byteLength" }, { location: "body.credits.remaining" }],
      },
    });
  });

  test("gets a 404 for unsupported operations", async () => {
    const override = { namespace: "exports", identifier: "harbour_7", limit: 1, duration: 1_000 };
    await expect(unkey.ratelimit.setOverride(override)).rejects.toMatchObject({
      statusCode: 404,
      error: { status: 404, detail: expect.stringContaining("no such operation; ") },
    });
  });
});

describe("the page on clients of v2", () => {
  const page = readFileSync(new URL("../../http/UNKEY-V2.md", import.meta.url), "utf8");
  const namedIn = (text = "") =>
    [...text.matchAll(/`([a-z]+\.(?:[a-zA-Z]+|\*))`/g)].map(([, name = ""]) => name).sort();
  const listed = namedIn(/for an operation that is here:\n\n(.*?)\n\n/s.exec(page)?.[1]);
  const added = namedIn(/\nBeyond that contract, (.*?)\n\n/s.exec(page)?.[1]);
  const absent = namedIn(/## Not here\n(.*)$/s.exec(page)?.[1]);

  test("names the served operations, and this file calls the client method for each", async () => {
    const response = await handler(new Request("http://keys.test/v2/openapi.json"));
    const { paths } = (await response.json()) as { readonly paths: object };
    expect([...listed, ...added].sort()).toEqual(
      Object.keys(paths)
        .map((path) => path.replace("/v2/", ""))
        .sort(),
    );
    const source = readFileSync(new URL(import.meta.url), "utf8");
    expect(listed.filter((name) => !source.includes(`unkey.${name}(`))).toEqual([]);
  });

  test("names every other operation of the client as unsupported", () => {
    const functions = new URL("funcs/", import.meta.resolve("unkey-api-v2"));
    const ofClient = readdirSync(functions)
      .filter((file) => file.endsWith(".js"))
      .flatMap((file) => {
        const source = readFileSync(new URL(file, functions), "utf8");
        return [...source.matchAll(/"\/v2\/([a-zA-Z.]+)"/g)].map(([, name = ""]) => name);
      });
    expect(ofClient.length).toBeGreaterThan(listed.length);
    const isAbsent = (name: string) =>
      absent.includes(name) || absent.includes(`${name.split(".")[0]}.*`);
    expect(ofClient.filter((name) => !isAbsent(name)).sort()).toEqual(listed);
  });
});
