import { LatchkeyError } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { createFixture } from "../testing/fixture.js";
import {
  type CallOptions,
  openFailing,
  openService,
  read,
  type TestService,
} from "../testing/open-service.js";

const call = (service: TestService, name: string, input: object = {}, options: CallOptions = {}) =>
  service.call(name, input, { version: "v2", ...options });

describe("an error", () => {
  test("has the title of its status, what went wrong, and the request id of the header", async () => {
    const service = await openService({ docsBaseUrl: "https://keys.example/errors" });
    const { status, headers, body } = await call(service, "apis.getApi", { apiId: "api_none" });
    expect(status).toBe(404);
    expect(body).toEqual({
      meta: { requestId: headers.get("x-request-id") },
      error: {
        title: "Not Found",
        detail: "no such API",
        status: 404,
        type: "https://keys.example/errors/NOT_FOUND",
      },
    });
  });

  test.each<[string, string, object, string[]]>([
    ["of a field", "keys.createKey", { apiId: "a", expire: 1 }, ["body.expire"]],
    ["without a body's fields", "keys.verifyKey", {}, ["body.key"]],
    [
      "of fields in lists",
      "keys.migrateKeys",
      { migrationId: "m", apiId: "a", keys: [{ hash: "0".repeat(64) }, { hash: "x" }] },
      ["body.keys[1].hash"],
    ],
    ["of a list", "ratelimit.multiLimit", [], ["body"]],
    [
      "of a list's items",
      "ratelimit.multiLimit",
      [{ namespace: "mail", identifier: "u", limit: 0, duration: 1 }],
      ["body[0].limit"],
    ],
    ["of a query", "keys.verifyKey", { key: "k", permissions: "a AND" }, ["body.permissions"]],
  ])("%s says where it is", async (_title, name, input, locations) => {
    const { status, body } = await call(await openService(), name, input);
    expect(status).toBe(400);
    const found = body.error.errors.map(({ location }: { location: string }) => location);
    expect(found).toEqual(locations);
  });

  test("that only v1 finds names the field as it was sent", async () => {
    const service = await openService();
    const { apiId } = await createFixture(service);
    const credits = { remaining: null, refill: { interval: "daily", amount: 1 } };
    const created = await call(service, "keys.createKey", { apiId, credits });
    expect(created.body.error).toMatchObject({
      detail: '"credits.refill" needs remaining',
      errors: [{ location: "body.credits.refill", message: "needs remaining" }],
    });
    const keys = [{ hash: "0".repeat(64), credits }];
    const migrated = await call(service, "keys.migrateKeys", { migrationId: "m", apiId, keys });
    expect(migrated.body.error.errors).toEqual([
      { location: "body.keys[0].credits.refill", message: "needs remaining" },
    ]);
  });

  test("of a request that reaches no operation has the same body", async () => {
    const service = await openService();
    const post = (path: string, init: RequestInit = {}) =>
      service
        .send(
          new Request(`http://keys.test/v2/${path}`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${service.root}`,
              "content-type": "application/json",
            },
            ...init,
          }),
        )
        .then(read);
    const replies = [
      await post("ratelimit.setOverride", { body: "{}" }),
      await post("apis.getApi", { method: "GET" }),
      await post("apis.getApi", { body: `"${"x".repeat(70_000)}"` }),
      await post("apis.getApi", {
        body: "{}",
        headers: { authorization: `Bearer ${service.root}` },
      }),
      await post("apis.getApi", { body: "{" }),
      await post("apis.getApi", { body: "{}", headers: {} }),
    ];
    expect(replies.map(({ body }) => [body.error.status, body.error.title])).toEqual([
      [404, "Not Found"],
      [405, "Method Not Allowed"],
      [413, "Payload Too Large"],
      [415, "Unsupported Media Type"],
      [400, "Bad Request"],
      [401, "Unauthorized"],
    ]);
    for (const { status, body, headers } of replies) {
      expect(body.error.status).toBe(status);
      expect(body.meta.requestId).toBe(headers.get("x-request-id"));
    }
  });

  test("of the store or of latchkey is reported to the host, and sent to the client without its cause", async () => {
    for (const [error, status] of [
      [new LatchkeyError("STORE_UNAVAILABLE", "inner words", { outcome: "unknown" }), 503],
      [new Error("inner words"), 500],
    ] as const) {
      const { service, told, fail } = await openFailing(error);
      fail();
      const reply = await call(service, "permissions.listRoles");
      expect([reply.status, reply.body.error.status]).toEqual([status, status]);
      expect(reply.text).not.toContain("inner words");
      expect(told).toEqual([[error, reply.body.meta.requestId]]);
    }
  });

  test("never contains a secret that was sent in a wrong place", async () => {
    const service = await openService();
    const { key, apiId } = await createFixture(service);
    const texts: string[] = [];
    for (const secret of [service.root, key])
      for (const [name, input] of [
        ["keys.createKey", { apiId, prefix: secret, credits: secret, ratelimits: [secret] }],
        ["keys.createKey", { apiId: secret }],
        ["keys.verifyKey", { key: "x", permissions: `a AND (${secret}`, tags: secret }],
        ["keys.getKey", { keyId: secret }],
        ["keys.migrateKeys", { migrationId: secret, apiId, keys: [{ hash: secret }] }],
        ["identities.getIdentity", { identity: secret }],
        ["permissions.getPermission", { permission: secret }],
        ["permissions.listRoles", { cursor: secret, limit: secret }],
        ["ratelimit.multiLimit", [secret]],
      ] as const)
        texts.push((await call(service, name, input)).text);
    for (const text of texts) {
      expect(text).toContain('"error":');
      for (const secret of [service.root, key]) expect(text).not.toContain(secret);
    }
  });
});

test("with v2: false, its paths do not exist", async () => {
  const { handler } = await openService({ v2: false });
  const request = () => new Request("http://keys.test/v2/apis.getApi", { method: "POST" });
  const { status, body } = await read(await handler(request()));
  expect([status, body.error.code, body.error.message]).toEqual([
    404,
    "NOT_FOUND",
    "no such path; README.md of @latchkey/http lists those that exist",
  ]);
});

test("the owner of a key by its name in v1 is told the one of v2", async () => {
  const service = await openService();
  const { body } = await call(service, "keys.createKey", { apiId: "api_1", ownerId: "customer" });
  expect(body.error.detail).toBe('"ownerId" is not a known field: use "externalId"');
});
