import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createLatchkey } from "@latchkey/core";
import { createHandler, openApiDocument, toNodeListener } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import { Unkey } from "@unkey/api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { VAULT_KEYS } from "./test-context.js";

// The published client of Unkey's v1 API, unchanged except for its base URL.

const latchkeys = () =>
  createLatchkey({
    store: memoryStore(),
    vault: { current: "a", keys: { a: VAULT_KEYS[0] } },
  });

/** A window from 1970 that does not end during any run, so that no test falls between two windows. */
const LONG_MS = 1e14;

let server: Server;
let unkey: Unkey;
let stranger: Unkey;

beforeEach(async () => {
  const latchkey = latchkeys();
  server = createServer(
    toNodeListener(createHandler({ latchkey, docsBaseUrl: "https://keys.test/v1/errors" })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { key: rootKey } = await latchkey.createRootKey({ permissions: ["*"] });
  unkey = new Unkey({ rootKey, baseUrl });
  const { key: narrowKey } = await latchkey.createRootKey({ permissions: ["api.*.read_api"] });
  stranger = new Unkey({ rootKey: narrowKey, baseUrl, disableTelemetry: true });
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

/** The result of a call. Fails if it was refused. */
async function resultOf<Result>(
  call: Promise<{ readonly result?: Result; readonly error?: unknown }>,
): Promise<Result> {
  const { result, error } = await call;
  expect(error).toBeUndefined();
  return result as Result;
}

async function newApi(): Promise<string> {
  return (await resultOf(unkey.apis.create({ name: "tide tables" }))).apiId;
}

describe("a client written for Unkey v1", () => {
  test("creates, reads and deletes an API", async () => {
    const apiId = await newApi();
    expect(await resultOf(unkey.apis.get({ apiId }))).toMatchObject({
      id: apiId,
      name: "tide tables",
    });
    expect(await resultOf(unkey.apis.delete({ apiId }))).toEqual({});
    expect((await unkey.apis.get({ apiId })).error).toMatchObject({ code: "NOT_FOUND" });
  });

  test("issues a key with every known setting, lists it and reads it back", async () => {
    const apiId = await newApi();
    await resultOf(unkey.permissions.createPermission({ name: "tides.read" }));
    await resultOf(unkey.permissions.createRole({ name: "harbour" }));
    const expires = Date.now() + 3_600_000;
    const { key, keyId } = await resultOf(
      unkey.keys.create({
        apiId,
        prefix: "tide",
        name: "harbour office",
        byteLength: 24,
        externalId: "harbour_7",
        meta: { plan: "gold" },
        roles: ["harbour"],
        permissions: ["tides.read"],
        expires,
        remaining: 10,
        refill: { interval: "monthly", amount: 10, refillDay: 31 },
        ratelimit: { async: true, limit: 5, duration: 60_000 },
        enabled: true,
        recoverable: true,
        environment: "live",
      }),
    );
    expect(key.startsWith("tide_")).toBe(true);
    const listed = await resultOf(
      unkey.apis.listKeys({ apiId, limit: 10, externalId: "harbour_7", decrypt: true }),
    );
    expect(listed.total).toBe(1);
    expect(listed.keys[0]).toMatchObject({
      id: keyId,
      apiId,
      name: "harbour office",
      ownerId: "harbour_7",
      meta: { plan: "gold" },
      roles: ["harbour"],
      permissions: ["tides.read"],
      expires,
      remaining: 10,
      refill: { interval: "monthly", amount: 10, refillDay: 31 },
      ratelimit: { async: true, limit: 5, duration: 60_000 },
      plaintext: key,
      identity: { externalId: "harbour_7" },
    });
    expect(await resultOf(unkey.keys.get({ keyId }))).toMatchObject({ id: keyId, enabled: true });
  });

  test("verifies a key and understands every verdict", async () => {
    const apiId = await newApi();
    const { key, keyId } = await resultOf(
      unkey.keys.create({ apiId, remaining: 2, ratelimit: { limit: 100, duration: LONG_MS } }),
    );
    const good = await resultOf(unkey.keys.verify({ key, apiId, tags: ["path=/tides"] }));
    expect(good).toMatchObject({ valid: true, code: "VALID", keyId, remaining: 1 });
    expect(good.ratelimit).toMatchObject({ limit: 100, remaining: 99 });
    const free = await resultOf(unkey.keys.verify({ key, remaining: { cost: 0 }, ratelimit: {} }));
    expect(free).toMatchObject({ valid: true, remaining: 1 });
    const adHoc = { name: "exports", limit: 1, duration: LONG_MS };
    await resultOf(unkey.keys.verify({ key, remaining: { cost: 0 }, ratelimits: [adHoc] }));
    const limited = await resultOf(unkey.keys.verify({ key, ratelimits: [adHoc] }));
    expect(limited).toMatchObject({ valid: false, code: "RATE_LIMITED" });
    await resultOf(unkey.keys.verify({ key, remaining: {} }));
    const spent = await resultOf(unkey.keys.verify({ key }));
    expect(spent).toMatchObject({ valid: false, code: "USAGE_EXCEEDED", remaining: 0 });
    const denied = await resultOf(
      unkey.keys.verify({
        key,
        authorization: { permissions: { or: ["tides.write", { and: ["a", "b"] }] } },
      }),
    );
    expect(denied).toMatchObject({ valid: false, code: "INSUFFICIENT_PERMISSIONS" });
    await resultOf(unkey.keys.update({ keyId, enabled: false }));
    expect(await resultOf(unkey.keys.verify({ key }))).toMatchObject({ code: "DISABLED" });
    expect(await resultOf(unkey.keys.verify({ key: "no such key" }))).toMatchObject({
      valid: false,
      code: "NOT_FOUND",
    });
  });

  test("changes, counts and deletes a key", async () => {
    const apiId = await newApi();
    const { key, keyId } = await resultOf(unkey.keys.create({ apiId }));
    const changed = await resultOf(
      unkey.keys.update({
        keyId,
        name: "renamed",
        ownerId: "harbour_8",
        meta: null,
        remaining: 5,
        refill: { interval: "daily", amount: 5 },
        ratelimit: { type: "fast", limit: 3, duration: 1_000 },
        permissions: [{ name: "tides.write", create: true }],
      }),
    );
    expect(changed).toEqual({});
    const raised = unkey.keys.updateRemaining({ keyId, op: "increment", value: 3 });
    expect(await resultOf(raised)).toEqual({ remaining: 8 });
    expect(await resultOf(unkey.keys.get({ keyId }))).toMatchObject({
      name: "renamed",
      ownerId: "harbour_8",
      remaining: 8,
      permissions: ["tides.write"],
    });
    expect(await resultOf(unkey.keys.delete({ keyId }))).toEqual({});
    expect(await resultOf(unkey.keys.verify({ key }))).toMatchObject({ code: "NOT_FOUND" });
  });

  test("counts verifications", async () => {
    const apiId = await newApi();
    const { key, keyId } = await resultOf(unkey.keys.create({ apiId, remaining: 1 }));
    await resultOf(unkey.keys.verify({ key }));
    await resultOf(unkey.keys.verify({ key }));
    const { verifications } = await resultOf(unkey.keys.getVerifications({ keyId }));
    const total = (name: "success" | "rateLimited" | "usageExceeded") =>
      verifications.reduce((sum, bucket) => sum + bucket[name], 0);
    expect([total("success"), total("rateLimited"), total("usageExceeded")]).toEqual([1, 0, 1]);
  });

  test("manages identities", async () => {
    const ratelimits = [{ name: "requests", limit: 10, duration: 60_000 }];
    const { identityId } = await resultOf(
      unkey.identities.create({ externalId: "harbour_7", meta: { plan: "gold" }, ratelimits }),
    );
    const identity = {
      id: identityId,
      externalId: "harbour_7",
      meta: { plan: "gold" },
      ratelimits,
    };
    expect(await resultOf(unkey.identities.get({ identityId }))).toEqual(identity);
    expect(await resultOf(unkey.identities.list({ limit: 10 }))).toMatchObject({ total: 1 });
    const updated = unkey.identities.update({ identityId, meta: {}, ratelimits: [] });
    expect(await resultOf(updated)).toEqual({ ...identity, meta: {}, ratelimits: [] });
    expect(await resultOf(unkey.identities.delete({ identityId }))).toEqual({ keys: "unlinked" });
    expect((await unkey.identities.get({ identityId })).error?.code).toBe("NOT_FOUND");
  });

  test("manages permissions and roles", async () => {
    const { permissionId } = await resultOf(
      unkey.permissions.createPermission({ name: "tides.read", description: "Read tides" }),
    );
    const permission = { id: permissionId, name: "tides.read", description: "Read tides" };
    expect(await resultOf(unkey.permissions.getPermission({ permissionId }))).toEqual(permission);
    const { roleId } = await resultOf(
      unkey.permissions.createRole({ name: "harbour", description: "" }),
    );
    expect(await resultOf(unkey.permissions.getRole({ roleId }))).toMatchObject({
      id: roleId,
      name: "harbour",
    });
    expect(await resultOf(unkey.permissions.deleteRole({ roleId }))).toEqual({});
    expect(await resultOf(unkey.permissions.deletePermission({ permissionId }))).toEqual({});
  });

  test("gives keys roles and permissions", async () => {
    const apiId = await newApi();
    const { keyId } = await resultOf(unkey.keys.create({ apiId }));
    await resultOf(unkey.keys.addRoles({ keyId, roles: [{ name: "harbour", create: true }] }));
    await resultOf(
      unkey.keys.setPermissions({ keyId, permissions: [{ name: "tides.read", create: true }] }),
    );
    expect(await resultOf(unkey.keys.get({ keyId }))).toMatchObject({
      roles: ["harbour"],
      permissions: ["tides.read"],
    });
    await resultOf(unkey.keys.removeRoles({ keyId, roles: [{ name: "harbour" }] }));
    await resultOf(unkey.keys.removePermissions({ keyId, permissions: [{ name: "tides.read" }] }));
    expect(await resultOf(unkey.keys.get({ keyId }))).toMatchObject({ roles: [], permissions: [] });
  });

  test("sets the roles of a key and adds permissions, and gets an object with all of them", async () => {
    const apiId = await newApi();
    const { keyId } = await resultOf(unkey.keys.create({ apiId, roles: [] }));
    const named = (name: string) => ({ id: expect.any(String), name });
    await resultOf(unkey.keys.addRoles({ keyId, roles: [{ name: "harbour", create: true }] }));
    const roles = unkey.keys.setRoles({ keyId, roles: [{ name: "pilot", create: true }] });
    expect(await resultOf(roles)).toEqual({ roles: [named("pilot")] });
    await resultOf(
      unkey.keys.setPermissions({ keyId, permissions: [{ name: "tides.read", create: true }] }),
    );
    const permissions = unkey.keys.addPermissions({
      keyId,
      permissions: [{ name: "tides.write", create: true }],
    });
    expect(await resultOf(permissions)).toEqual({
      permissions: [named("tides.read"), named("tides.write")],
    });
    expect(await resultOf(unkey.keys.get({ keyId }))).toMatchObject({
      roles: ["pilot"],
      permissions: ["tides.read", "tides.write"],
    });
  });

  test("limits without a key", async () => {
    const question = { identifier: "harbour_7", limit: 1, duration: LONG_MS, async: true };
    expect(await resultOf(unkey.ratelimits.limit(question))).toMatchObject({
      success: true,
      limit: 1,
      remaining: 0,
    });
    expect(await resultOf(unkey.ratelimits.limit(question))).toMatchObject({ success: false });
  });

  test("imports keys by hash and by plaintext", async () => {
    const apiId = await newApi();
    // SHA-256 of "tide_live_4Jx8vQ2mZ7", base64.
    const value = Buffer.from(
      await crypto.subtle.digest("SHA-256", new TextEncoder().encode("tide_live_4Jx8vQ2mZ7")),
    ).toString("base64");
    const { keyIds } = await resultOf(
      unkey.migrations.createKeys([
        { apiId, start: "tide_live", hash: { value, variant: "sha256_base64" }, name: "old" },
        { apiId, prefix: "tide", plaintext: "tide_test_9Hw3kR5nB1", remaining: 3 },
      ]),
    );
    expect(keyIds).toHaveLength(2);
    const byHash = unkey.keys.verify({ key: "tide_live_4Jx8vQ2mZ7" });
    expect(await resultOf(byHash)).toMatchObject({ valid: true, keyId: keyIds[0] });
    const byText = unkey.keys.verify({ key: "tide_test_9Hw3kR5nB1" });
    expect(await resultOf(byText)).toMatchObject({ valid: true, keyId: keyIds[1], remaining: 2 });
  });

  test("gets refusals in the expected error body", async () => {
    const { error } = await unkey.keys.get({ keyId: "key_none" });
    expect(error).toEqual({
      code: "NOT_FOUND",
      message: "no such key",
      docs: "https://keys.test/v1/errors/NOT_FOUND",
      requestId: expect.stringMatching(/^req_/),
    });
    expect((await stranger.apis.create({ name: "forbidden" })).error).toMatchObject({
      code: "INSUFFICIENT_PERMISSIONS",
      message: expect.stringContaining("api.*.create_api"),
    });
    const bad = await unkey.keys.create({ apiId: "api_1", byteLength: 1 });
    expect(bad.error).toMatchObject({ code: "BAD_REQUEST" });
  });

  test("gets a refusal that names features of v1 that are not supported", async () => {
    const apiId = await newApi();
    const ratelimit = { limit: 10, refillRate: 10, refillInterval: 1_000 };
    const plaintext = "tide_test_9Hw3kR5nB1";
    const imported = await unkey.migrations.createKeys([{ apiId, plaintext, ratelimit }]);
    expect(imported.error).toMatchObject({ code: "BAD_REQUEST" });
    for (const field of ["duration", "refillRate", "refillInterval"])
      expect(imported.error?.message).toContain(`"0.ratelimit.${field}"`);
    const { key } = await resultOf(unkey.keys.create({ apiId }));
    const unasked = { key, authorization: { permissions: null } } as never;
    const { error } = await unkey.keys.verify(unasked);
    expect(error?.code).toBe("BAD_REQUEST");
    expect(error?.message).toContain('"authorization.permissions"');
  });
});

describe("the page on clients of v1", () => {
  const page = readFileSync(new URL("../../http/UNKEY-V1.md", import.meta.url), "utf8");
  const served = new Set(Object.keys(openApiDocument().paths).map((path) => path.slice(4)));
  const namedIn = (text = "") =>
    [...text.matchAll(/`([a-z]+(?:\.[a-zA-Z]+)?)`/g)].map(([, name]) => name).sort();

  test("names every client method that is served here, and this file calls each", async () => {
    const source = readFileSync(new URL(import.meta.url), "utf8");
    const called = await operationsOfClient();
    const shared = [...called].filter(([operation]) => served.has(operation));
    expect(namedIn(/that both have:\n\n(.*?)\n\n/s.exec(page)?.[1])).toEqual(
      shared.map(([operation]) => operation).sort(),
    );
    const uncalled = shared.filter(([, method]) => !source.includes(`unkey.${method}(`));
    expect(uncalled).toEqual([]);
  });

  test("names no unserved operation among the rest", () => {
    const rest = namedIn(/does not run them: (.*?)\n\n/s.exec(page)?.[1]);
    expect(rest.filter((name) => !served.has(name ?? ""))).toEqual([]);
    expect(rest).toHaveLength(5);
  });
});

/** The client method by the operation that it requests, recorded by a server that refuses everything. */
async function operationsOfClient(): Promise<Map<string, string>> {
  const paths: string[] = [];
  const recorder = createServer((request, response) => {
    paths.push(new URL(request.url ?? "", "http://localhost").pathname);
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{}}');
  });
  await new Promise<void>((resolve) => recorder.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
  const client = new Unkey({ rootKey: "unused", baseUrl, disableTelemetry: true });
  const operations = new Map<string, string>();
  for (const family of ["apis", "keys", "identities", "permissions", "ratelimits", "migrations"]) {
    const methods = client[family as "apis"] as unknown as Record<
      string,
      (input: object) => unknown
    >;
    for (const [name, method] of Object.entries(methods)) {
      await method({});
      operations.set((paths.pop() ?? "").replace("/v1/", ""), `${family}.${name}`);
    }
  }
  await new Promise((resolve) => recorder.close(resolve));
  return operations;
}
