import { beforeEach, describe, expect, test } from "vitest";
import { openService, START, type TestService } from "../testing/open-service.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
});

const create = (fields: object = {}) => service.ok("keys.createKey", { apiId, ...fields });
const verify = (fields: object, token?: string) =>
  service.ok("keys.verifyKey", fields, token === undefined ? {} : { token });

describe("the verdict", () => {
  test("returns everything about a key", async () => {
    await service.latchkey.createRole({ name: "reader" });
    await service.ok("identities.createIdentity", {
      externalId: "user_1",
      meta: { plan: "pro" },
      ratelimits: [{ name: "tokens", limit: 9, duration: 60_000 }],
    });
    const { keyId, key } = await create({
      name: "server 1",
      externalId: "user_1",
      meta: { zone: "eu" },
      expires: START + 60_000,
      remaining: 10,
      ratelimit: { limit: 5, duration: 60_000 },
      roles: ["reader"],
      environment: "live",
    });
    const { body, headers } = await service.call("keys.verifyKey", {
      key,
      apiId,
      tags: ["path=/v1/charge"],
      remaining: { cost: 3 },
      ratelimits: [{ name: "tokens", cost: 2 }],
    });
    const reset = START - 12_345 + 60_000;
    expect(body).toEqual({
      valid: true,
      code: "VALID",
      requestId: headers.get("x-request-id"),
      keyId,
      apiId,
      name: "server 1",
      ownerId: "user_1",
      meta: { zone: "eu" },
      expires: START + 60_000,
      enabled: true,
      permissions: [],
      roles: ["reader"],
      environment: "live",
      identity: { id: expect.any(String), externalId: "user_1", meta: { plan: "pro" } },
      remaining: 7,
      ratelimit: { limit: 5, remaining: 4, reset },
      ratelimits: [
        { name: "default", limit: 5, remaining: 4, reset, exceeded: false, duration: 60_000 },
        { name: "tokens", limit: 9, remaining: 7, reset, exceeded: false, duration: 60_000 },
      ],
    });
  });

  test("leaves out what a bare key does not have", async () => {
    const { keyId, key } = await create();
    const { requestId, ...verdict } = await verify({ key });
    expect(requestId).toMatch(/^req_/);
    expect(verdict).toEqual({
      valid: true,
      code: "VALID",
      keyId,
      apiId,
      enabled: true,
      permissions: [],
      roles: [],
    });
  });

  test("is 200, whatever the code", async () => {
    await service.latchkey.createPermission({ name: "docs.read" });
    const other = await service.ok("apis.createApi", { name: "other" });
    const gone = await create();
    await service.ok("keys.deleteKey", { keyId: gone.keyId });
    const limited = await create({ ratelimit: { limit: 1, duration: 60_000 } });
    const exhausted = await create({ remaining: 1 });
    await verify({ key: limited.key });
    await verify({ key: exhausted.key });
    const expired = await create({ expires: START + 1 });
    service.advance(1);
    const cases: [string, object][] = [
      ["NOT_FOUND", { key: "nonsense" }],
      ["NOT_FOUND", { key: gone.key }],
      ["DISABLED", { key: (await create({ enabled: false })).key }],
      ["FORBIDDEN", { key: (await create()).key, apiId: other.apiId }],
      ["EXPIRED", { key: expired.key }],
      [
        "INSUFFICIENT_PERMISSIONS",
        { key: (await create()).key, authorization: { permissions: "docs.read" } },
      ],
      ["RATE_LIMITED", { key: limited.key }],
      ["USAGE_EXCEEDED", { key: exhausted.key }],
    ];
    for (const [code, input] of cases) {
      const verdict = await verify(input);
      expect([verdict.code, verdict.valid, "keyId" in verdict]).toEqual([
        code,
        false,
        code !== "NOT_FOUND",
      ]);
    }
  });
});

describe("a refusal tells", () => {
  test("which permissions are missing", async () => {
    const { key } = await create();
    const permissions = { and: ["docs.read", "docs.write"] };
    expect(await verify({ key, authorization: { permissions } })).toMatchObject({
      code: "INSUFFICIENT_PERMISSIONS",
      missing: permissions,
    });
  });

  test("how long to wait, for a limit or for a refill", async () => {
    const limited = await create({ ratelimit: { limit: 1, duration: 60_000 } });
    await verify({ key: limited.key });
    expect(await verify({ key: limited.key })).toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs: 60_000 - 12_345,
    });
    const used = await create({ remaining: 1, refill: { interval: "daily", amount: 1 } });
    await verify({ key: used.key });
    const verdict = await verify({ key: used.key });
    const dayMs = 86_400_000;
    expect(verdict).toMatchObject({
      code: "USAGE_EXCEEDED",
      retryAfterMs: dayMs - (START % dayMs),
    });
  });
});

describe("the question", () => {
  test("a malformed question is 400, whatever the key", async () => {
    const { key } = await create();
    const malformed: [object, string][] = [
      [{ authorization: { permissions: { and: ["a"], or: ["b"] } } }, "authorization.permissions"],
      [{ authorization: { permissions: { and: [] } } }, "authorization.permissions.and"],
      [{ authorization: {} }, "authorization.permissions"],
      [{ remaining: { cost: -1 } }, "remaining.cost"],
      [{ remaining: { cost: "1" } }, "remaining.cost"],
      [{ ratelimits: [{ name: "a", limit: 1 }] }, "ratelimits.0.duration"],
      [{ ratelimits: [{ name: "a", limit: 1, duration: 1 }, { name: "a" }] }, "ratelimits.1.name"],
      [{ tags: Array.from({ length: 11 }, () => "t") }, "tags"],
      [{ tags: ["x".repeat(129)] }, "tags.0"],
      [{ apiId: "" }, "apiId"],
      [{ surprise: 1 }, "surprise"],
    ];
    for (const presented of [key, "nonsense"]) {
      for (const [question, path] of malformed) {
        const { status, body } = await service.call("keys.verifyKey", {
          key: presented,
          ...question,
        });
        expect([status, body.error.issues[0].path]).toEqual([400, path]);
      }
    }
    for (const presented of ["", "x".repeat(513), null, 1, undefined]) {
      const { status, body } = await service.call("keys.verifyKey", { key: presented });
      expect([status, body.error.issues[0].path]).toEqual([400, "key"]);
    }
  });

  test("a limit that nothing configures is 400 and takes nothing", async () => {
    const { keyId, key } = await create({ remaining: 5 });
    const { status, body } = await service.call("keys.verifyKey", {
      key,
      ratelimits: [{ name: "x" }],
    });
    expect([status, body.error.issues[0].path]).toEqual([400, "ratelimits.0.name"]);
    expect((await service.ok("keys.getKey", { keyId })).remaining).toBe(5);
  });

  test("a root key of a disabled workspace is refused, without a verdict", async () => {
    const { key } = await create();
    await service.latchkey.setWorkspaceEnabled(false);
    const { status, body } = await service.call("keys.verifyKey", { key });
    expect([status, body.error.message]).toEqual([403, "workspace is disabled"]);
  });
});

describe("the permission to verify", () => {
  test("is required: without verify_key it is 403", async () => {
    const { key } = await create();
    const token = await service.rootKey("api.*.read_key", "identity.*.read_identity");
    expect((await service.call("keys.verifyKey", { key }, { token })).status).toBe(403);
  });

  test("for some APIs: their keys are visible, and other keys do not exist", async () => {
    const other = await service.ok("apis.createApi", { name: "other" });
    const mine = await create({ remaining: 5 });
    const theirs = await service.ok("keys.createKey", { apiId: other.apiId, remaining: 5 });
    const token = await service.rootKey(`api.${apiId}.verify_key`);
    expect((await verify({ key: mine.key }, token)).valid).toBe(true);
    expect(await verify({ key: theirs.key }, token)).toEqual({
      valid: false,
      code: "NOT_FOUND",
      requestId: expect.any(String),
    });
    expect((await service.ok("keys.getKey", { keyId: theirs.keyId })).remaining).toBe(5);
  });

  test("is required for a named API: otherwise it is 403, whether the API exists or not", async () => {
    const other = await service.ok("apis.createApi", { name: "other" });
    const { key } = await create();
    const token = await service.rootKey(`api.${apiId}.verify_key`);
    for (const named of [other.apiId, "api_none"]) {
      const reply = await service.call("keys.verifyKey", { key, apiId: named }, { token });
      expect([reply.status, reply.body.error.code]).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
    }
    expect((await verify({ key, apiId }, token)).valid).toBe(true);
  });

  test("is checked after the input: a malformed one is 400 for every token", async () => {
    const { key } = await create();
    for (const permission of [
      `api.${apiId}.verify_key`,
      `api.${apiId}.read_key`,
      "api.*.verify_key",
    ]) {
      const token = await service.rootKey(permission);
      for (const malformed of [
        { apiId: [apiId] },
        { apiId: null },
        { apiId, cost: 1 },
        { apiId: "api_9", tags: 1 },
      ]) {
        const { status, body } = await service.call(
          "keys.verifyKey",
          { key, ...malformed },
          { token },
        );
        expect([status, body.error.code]).toEqual([400, "BAD_REQUEST"]);
      }
    }
  });

  test("is not required with publicVerify, only here", async () => {
    const open = await openService({ publicVerify: true });
    const api = await open.latchkey.createApi({ name: "payments" });
    const { key, keyId } = await open.latchkey.createKey({ apiId: api.apiId });
    for (const token of [null, "wrong", open.root]) {
      expect((await open.ok("keys.verifyKey", { key }, { token })).valid).toBe(true);
    }
    expect((await open.call("keys.getKey", { keyId }, { token: null })).status).toBe(401);
    const foreign = await open.latchkey.workspace("ws_other").createApi({ name: "other" });
    const other = await open.latchkey.workspace("ws_other").createKey(foreign);
    expect((await open.ok("keys.verifyKey", { key: other.key }, { token: null })).code).toBe(
      "NOT_FOUND",
    );
  });

  test("is required by default", async () => {
    const { key } = await create();
    expect((await service.call("keys.verifyKey", { key }, { token: null })).status).toBe(401);
  });
});

describe("the header Idempotency-Key", () => {
  const ask = (idempotencyKey: string, fields: object) =>
    service.call("keys.verifyKey", fields, { headers: { "idempotency-key": idempotencyKey } });

  test("gives a repeat the same verdict, charged once", async () => {
    const { key } = await create({ remaining: 2 });
    const first = await ask("retry-1", { key });
    const second = await ask("retry-1", { key });
    expect(first.body).toMatchObject({ valid: true, remaining: 1 });
    expect({ ...second.body, requestId: "" }).toEqual({ ...first.body, requestId: "" });
    expect((await ask("retry-2", { key })).body).toMatchObject({ valid: true, remaining: 0 });
    expect((await ask("retry-1", { key })).body).toMatchObject({ valid: true, remaining: 1 });
  });

  test("is a CONFLICT with another question about the same key, and can be used for another key", async () => {
    const { key } = await create({ remaining: 5 });
    const other = await create({ remaining: 5 });
    await ask("retry-1", { key });
    const conflict = await ask("retry-1", { key, remaining: { cost: 2 } });
    expect([conflict.status, conflict.body.error.code]).toEqual([409, "CONFLICT"]);
    expect(conflict.body.error.message).toBe(
      "this Idempotency-Key was used for another question about this key",
    );
    expect((await ask("retry-1", { key: other.key })).body).toMatchObject({ remaining: 4 });
  });

  test("is refused if it is longer than 128 characters, and is not a field of the body", async () => {
    const { key } = await create();
    const issue = {
      path: "Idempotency-Key",
      message: "must be a string of 1 to 128 characters",
    };
    for (const value of ["x".repeat(129), ""]) {
      const refused = await ask(value, { key });
      expect([refused.status, refused.body.error.issues]).toEqual([400, [issue]]);
      expect(refused.body.error.message).toBe(`"${issue.path}" ${issue.message}`);
    }
    expect((await ask("x".repeat(128), { key })).status).toBe(200);
    const twin = await service.call("keys.verifyKey", { key, requestId: "retry-1" });
    expect(twin.status).toBe(400);
    expect(twin.body.error.issues).toEqual([
      { path: "requestId", message: "is not a known field" },
    ]);
    const both = await ask("x".repeat(129), { key, requestId: 1 });
    expect(both.body.error.issues).toEqual([issue, ...twin.body.error.issues]);
  });

  test("is listed with the issues of the body, also for a token for single APIs", async () => {
    const token = await service.rootKey(`api.${apiId}.verify_key`);
    for (const options of [{}, { token }]) {
      const { body } = await service.call(
        "keys.verifyKey",
        { key: "", extra: 1 },
        { ...options, headers: { "idempotency-key": "x".repeat(129) } },
      );
      const paths = body.error.issues.map(({ path }: { path: string }) => path);
      expect(paths.sort()).toEqual(["Idempotency-Key", "extra", "key"]);
    }
  });
});
