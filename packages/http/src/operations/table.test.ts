import { memoryStore } from "@latchkey/memory";
import { beforeEach, describe, expect, test } from "vitest";
import { openService, START, type TestService } from "../testing/open-service.js";
import { recordingStore } from "../testing/recording-store.js";
import { OPERATIONS } from "./table.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
});

const refuse = async (name: string, input: object) => {
  const { status, body } = await service.call(name, input);
  return [
    status,
    body.error.code,
    ...(body.error.issues ?? []).map((issue: { path: string }) => issue.path),
  ];
};

test("no two operations share a path", () => {
  expect(new Set(OPERATIONS.map(({ name }) => name)).size).toBe(OPERATIONS.length);
});

describe("liveness", () => {
  test("is open to everyone, with or without credentials", async () => {
    for (const token of [null, "wrong", service.root])
      expect(await service.ok("liveness", {}, { token })).toEqual({});
  });

  test("works without a store", async () => {
    await service.latchkey.close();
    expect((await service.call("liveness")).status).toBe(200);
    expect((await service.call("apis.getApi", { apiId })).status).toBe(503);
  });
});

describe("readiness", () => {
  test("is open to everyone, with or without credentials", async () => {
    for (const token of [null, "wrong", service.root])
      expect(await service.ok("readiness", {}, { token })).toEqual({});
  });

  test("is 503 while the store is unavailable, and says when to try again", async () => {
    await service.latchkey.close();
    const { status, body, headers } = await service.call("readiness", {}, { token: null });
    expect([status, body.error.code]).toEqual([503, "STORE_UNAVAILABLE"]);
    expect(headers.get("retry-after")).toBe("1");
  });

  test("works in a disabled workspace", async () => {
    await service.latchkey.setWorkspaceEnabled(false);
    expect((await service.call("readiness")).status).toBe(200);
  });

  test("reads the store once", async () => {
    const calls: string[] = [];
    const recording = await openService({ store: recordingStore(memoryStore(), calls) });
    calls.length = 0;
    await recording.ok("readiness", {}, { token: null });
    expect(calls).toEqual(["read"]);
  });
});

describe("apis.createApi and apis.getApi", () => {
  test("create an API and return it", async () => {
    expect(Object.keys(await service.ok("apis.createApi", { name: "abc" }))).toEqual(["apiId"]);
    expect(await service.ok("apis.getApi", { apiId })).toEqual({
      id: apiId,
      name: "payments",
      workspaceId: "ws_default",
    });
  });

  test("a name has 3 to 256 characters", async () => {
    for (const name of ["ab", "x".repeat(257), "", null, 1, undefined])
      expect(await refuse("apis.createApi", { name })).toEqual([400, "BAD_REQUEST", "name"]);
    await service.ok("apis.createApi", { name: "x".repeat(256) });
  });

  test("an unknown API is not found", async () => {
    expect(await refuse("apis.getApi", { apiId: "api_none" })).toEqual([404, "NOT_FOUND"]);
  });
});

describe("keys.getKey", () => {
  test("returns the key as in a list", async () => {
    const { keyId } = await service.ok("keys.createKey", { apiId, name: "server 1", remaining: 3 });
    const { keys } = await service.ok("apis.listKeys", { apiId });
    expect(await service.ok("keys.getKey", { keyId })).toEqual(keys[0]);
  });

  test("with decrypt, contains the secret of a recoverable key", async () => {
    const { keyId, key } = await service.ok("keys.createKey", { apiId, recoverable: true });
    expect((await service.ok("keys.getKey", { keyId, decrypt: "1" })).plaintext).toBe(key);
    expect(await service.ok("keys.getKey", { keyId, decrypt: "null" })).not.toHaveProperty(
      "plaintext",
    );
  });
});

describe("keys.updateKey", () => {
  test("changes given fields, keeps omitted ones, clears null ones, and returns {}", async () => {
    await service.latchkey.createRole({ name: "reader" });
    const { keyId } = await service.ok("keys.createKey", { apiId, externalId: "user_1" });
    const given = {
      name: "server 1",
      meta: { plan: "pro" },
      expires: START + 60_000,
      remaining: 5,
      refill: { interval: "daily", amount: 5 },
      ratelimit: { type: "fast", limit: 1, duration: 1_000 },
      environment: "live",
    };
    const changed = {
      ...given,
      enabled: false,
      roles: ["reader"],
      permissions: [{ name: "docs.read", create: true }],
    };
    expect(await service.ok("keys.updateKey", { keyId, ...changed })).toEqual({});
    const updated = await service.ok("keys.getKey", { keyId });
    expect(updated).toMatchObject({
      ...given,
      enabled: false,
      roles: ["reader"],
      permissions: ["docs.read"],
    });
    expect(updated.ownerId).toBe("user_1");

    await service.ok("keys.updateKey", { keyId, name: "server 2" });
    expect(await service.ok("keys.getKey", { keyId })).toEqual({ ...updated, name: "server 2" });

    const cleared = Object.fromEntries(Object.keys(given).map((field) => [field, null]));
    await service.ok("keys.updateKey", {
      keyId,
      ...cleared,
      externalId: null,
      enabled: true,
      roles: [],
      permissions: [],
    });
    const { start } = updated;
    expect(await service.ok("keys.getKey", { keyId })).toEqual({
      id: keyId,
      start,
      apiId,
      workspaceId: "ws_default",
      createdAt: START,
      updatedAt: START,
      enabled: true,
      roles: [],
      permissions: [],
    });
  });

  test("a role that does not exist changes nothing", async () => {
    const { keyId } = await service.ok("keys.createKey", { apiId, name: "before" });
    const input = { keyId, name: "after", roles: ["ghost"] };
    expect(await refuse("keys.updateKey", input)).toEqual([412, "PRECONDITION_FAILED"]);
    expect((await service.ok("keys.getKey", { keyId })).name).toBe("before");
  });

  test("reports all issues at once, including unknown fields", async () => {
    const input = { keyId: "", expire: 1, enabled: "yes", remaining: -1 };
    const [status, code, ...paths] = await refuse("keys.updateKey", input);
    expect([status, code, paths.sort()]).toEqual([
      400,
      "BAD_REQUEST",
      ["enabled", "expire", "keyId", "remaining"],
    ]);
  });
});

describe("keys.updateRemaining", () => {
  test("sets, increments and decrements, and returns the remaining uses; nothing if unlimited", async () => {
    const { keyId } = await service.ok("keys.createKey", { apiId });
    const change = (op: string, value: number | null) =>
      service.ok("keys.updateRemaining", { keyId, op, value });
    expect(await change("set", 5)).toEqual({ remaining: 5 });
    expect(await change("increment", 3)).toEqual({ remaining: 8 });
    expect(await change("decrement", 8)).toEqual({ remaining: 0 });
    expect(await change("set", null)).toEqual({});
  });

  test("refuses a decrement below 0 with 412, and both on an unlimited key with 400", async () => {
    const { keyId } = await service.ok("keys.createKey", { apiId, remaining: 2 });
    const lower = { keyId, op: "decrement", value: 3 };
    expect(await refuse("keys.updateRemaining", lower)).toEqual([412, "PRECONDITION_FAILED"]);
    expect((await service.ok("keys.getKey", { keyId })).remaining).toBe(2);
    await service.ok("keys.updateRemaining", { keyId, op: "set", value: null });
    for (const op of ["increment", "decrement"])
      expect((await refuse("keys.updateRemaining", { keyId, op, value: 1 })).slice(0, 2)).toEqual([
        400,
        "BAD_REQUEST",
      ]);
  });

  test("increment and decrement take whole numbers from 1, set from 0 or null", async () => {
    const { keyId } = await service.ok("keys.createKey", { apiId, remaining: 2 });
    for (const op of ["increment", "decrement"])
      for (const value of [0, -1, 1.5, null, "1", undefined])
        expect(await refuse("keys.updateRemaining", { keyId, op, value })).toEqual(
          expect.arrayContaining([400, "value"]),
        );
    for (const value of [-1, 1.5, "1", undefined])
      expect(await refuse("keys.updateRemaining", { keyId, op: "set", value })).toEqual([
        400,
        "BAD_REQUEST",
        "value",
      ]);
    expect(await refuse("keys.updateRemaining", { keyId, op: "add", value: 1 })).toEqual([
      400,
      "BAD_REQUEST",
      "op",
    ]);
  });
});

describe("keys.deleteKey", () => {
  test("returns {}; the key is gone from verification, reading and listing at once", async () => {
    const { keyId, key } = await service.ok("keys.createKey", { apiId });
    expect(await service.ok("keys.deleteKey", { keyId })).toEqual({});
    expect((await service.ok("keys.verifyKey", { key })).code).toBe("NOT_FOUND");
    expect(await refuse("keys.getKey", { keyId })).toEqual([404, "NOT_FOUND"]);
    expect(await refuse("keys.deleteKey", { keyId })).toEqual([404, "NOT_FOUND"]);
    expect(await service.ok("apis.listKeys", { apiId })).toEqual({ keys: [], total: 0 });
  });
});

describe("identities.createIdentity and identities.getIdentity", () => {
  test("create an identity and read it by either id; identityId wins if both are given", async () => {
    const fields = {
      externalId: "user_1",
      meta: { plan: "pro" },
      ratelimits: [{ name: "r", limit: 1, duration: 1 }],
    };
    const { identityId } = await service.ok("identities.createIdentity", fields);
    await service.ok("identities.createIdentity", { externalId: "user_2" });
    const shown = { id: identityId, ...fields };
    for (const ids of [
      { identityId },
      { externalId: "user_1" },
      { identityId, externalId: "user_2" },
    ])
      expect(await service.ok("identities.getIdentity", ids)).toEqual(shown);
  });

  test("a taken externalId is a conflict, an unknown one is not found, neither id is refused", async () => {
    await service.ok("identities.createIdentity", { externalId: "user_1" });
    const again = { externalId: "user_1" };
    expect(await refuse("identities.createIdentity", again)).toEqual([409, "CONFLICT"]);
    expect(await refuse("identities.getIdentity", { externalId: "x" })).toEqual([404, "NOT_FOUND"]);
    expect(await refuse("identities.getIdentity", {})).toEqual([400, "BAD_REQUEST", "identityId"]);
  });
});
