import { describe, expect, test } from "vitest";
import { entryWith, identityWith, keyWith, limitNamed, loadedWith } from "../testing/records.js";
import { apiType } from "./api.js";
import { type AuditEntry, auditEntryType, smallListsOf } from "./audit-entry.js";
import { permissionType, roleType } from "./grants.js";
import { identityType } from "./identity.js";
import { fromWireKeyLimit, keysOfApi, keyType } from "./key.js";
import { rootKeyPointerType, rootKeyType } from "./root-key.js";
import { workspaceType } from "./workspace.js";

const WORKSPACE_ID = "ws_default";
const named = { id: "role_1", workspaceId: WORKSPACE_ID, name: "anchor", description: null };
const role = { ...named, permissions: [], createdAt: 1, version: 1 };
const entry = entryWith({ at: 1 });

describe("names that only one record may have", () => {
  test("are the hash of a key, and the marks of an imported secret", () => {
    expect(keyType.claims(keyWith({ hash: "h", importMarks: ["m1", "m2"] }))).toEqual([
      { index: "hash", value: "h" },
      { index: "importMark", value: "m1" },
      { index: "importMark", value: "m2" },
    ]);
  });

  test("are the externalId of an identity, and the name of a role or a permission", () => {
    expect(identityType.claims(identityWith())).toEqual([{ index: "externalId", value: "user_1" }]);
    expect(roleType.claims(role)).toEqual([{ index: "name", value: "anchor" }]);
    expect(permissionType.claims({ ...named, createdAt: 1 })).toEqual([
      { index: "name", value: "anchor" },
    ]);
  });

  test("do not exist for an API, a workspace, a root key or an entry of the audit log", () => {
    const { api, workspace } = loadedWith();
    expect(apiType.claims(api)).toEqual([]);
    expect(workspaceType.claims(workspace)).toEqual([]);
    expect(auditEntryType.claims(entry)).toEqual([]);
    const rootKey = {
      id: "root_1",
      workspaceId: WORKSPACE_ID,
      hash: "h",
      start: "s",
      name: null,
      permissions: [],
      expires: null,
      enabled: true,
      rotatedTo: null,
      createdAt: 1,
    };
    expect(rootKeyType.claims(rootKey)).toEqual([]);
    expect(rootKeyType.lists(rootKey)).toEqual([{ list: "rootKey" }]);
  });
});

describe("lists", () => {
  test("of keys are those of their API, and within it those of their identity", () => {
    expect(keyType.lists(keyWith())).toEqual([{ list: keysOfApi("api_1") }]);
    expect(keyType.lists(keyWith({ identityId: "id_1" }))).toEqual([
      { list: "keys:api_1" },
      { list: "keys:api_1", of: "id_1" },
    ]);
  });

  test("of the audit log are all entries, and those of a key, an identity and an actor", () => {
    expect(auditEntryType.lists(entry)).toEqual([
      { list: "auditEntry" },
      { list: "auditEntry", of: "key_1" },
      { list: "auditEntry", of: "id_1" },
      { list: "auditEntry", of: "actor:root_1" },
    ]);
    const bare = { ...entry, actor: null, keyId: null, identityId: null };
    expect(auditEntryType.lists(bare)).toEqual([{ list: "auditEntry" }]);
    const all = smallListsOf({ keyId: "key_x", identityId: "id_x" });
    const actors = ["key_x", "id_x", "x"].flatMap((actor) => smallListsOf({ actor }));
    expect(new Set([...all, ...actors]).size).toBe(5);
  });

  test("of other kinds have one name each; workspaces and pointers are in no list", () => {
    const { api, workspace } = loadedWith();
    expect(apiType.lists(api)).toEqual([{ list: "api" }]);
    expect(identityType.lists(identityWith())).toEqual([{ list: "identity" }]);
    expect(roleType.lists(role)).toEqual([{ list: "role" }]);
    expect(permissionType.lists({ ...named, createdAt: 1 })).toEqual([{ list: "permission" }]);
    expect(workspaceType.lists(workspace)).toEqual([]);
    const pointer = { id: "hash", workspaceId: WORKSPACE_ID, rootKeyId: "root_1" };
    expect(rootKeyPointerType.lists(pointer)).toEqual([]);
  });
});

describe("a key", () => {
  const decode = (body: object) =>
    keyType.decode({ ...keyType.encode(keyWith()), body: body as never }, WORKSPACE_ID);
  const bare = { apiId: "api_1", hash: "hash_1", start: "pay_ab", createdAt: 1 };

  test("with only defaults is stored as four members", () => {
    expect(keyType.encode(keyWith())).toEqual({
      kind: "key",
      id: "key_1",
      version: 1,
      link: null,
      body: bare,
    });
  });

  test("is enabled, takes its own uses and has no grants if its body does not say otherwise", () => {
    expect(decode(bare)).toEqual(keyWith());
  });

  test("is returned along with its identity", () => {
    expect(keyType.encode(keyWith({ identityId: "id_1" })).link).toBe("id_1");
  });

  test("of real lengths takes at most 150 bytes, and its entry of the audit log at most 150", () => {
    const id = "x".repeat(30);
    const plain = keyWith({
      apiId: id,
      hash: "x".repeat(43),
      start: "pay_live_ab",
      createdAt: 1_767_225_600_000,
    });
    const bytesOf = (body: unknown) => new TextEncoder().encode(JSON.stringify(body)).length;
    expect(bytesOf(keyType.encode(plain).body)).toBeLessThanOrEqual(150);
    const created: AuditEntry = {
      ...entry,
      type: "key.created",
      at: 1_767_225_600_000,
      actor: null,
      resourceId: `key_${"x".repeat(26)}`,
      keyId: `key_${"x".repeat(26)}`,
      identityId: null,
      fields: [{ field: "apiId", after: id }],
    };
    expect(bytesOf(auditEntryType.encode(created).body)).toBeLessThanOrEqual(150);
  });

  test.each([
    ["a limit of 0", { ratelimits: [{ name: "a", limit: 0, duration: 1 }] }],
    ["a duration of 0", { ratelimits: [{ name: "a", limit: 1, duration: 0 }] }],
    ["a limit whose name is no text", { ratelimits: [{ name: 1, limit: 1, duration: 1 }] }],
    [
      "a limit of an unknown type",
      { ratelimits: [{ name: "a", limit: 1, duration: 1, type: "x" }] },
    ],
    ["a limit that is no object", { ratelimits: ["a"] }],
    ["a refill of 0", { refill: { interval: "daily", amount: 0 } }],
    ["a refill of an unknown interval", { refill: { interval: "yearly", amount: 1 } }],
    ["a refill that carries over 0", { refill: { interval: "daily", amount: 1, carryOver: 0 } }],
    [
      "a refill that carries over too much",
      { refill: { interval: "daily", amount: 1, carryOver: Number.MAX_SAFE_INTEGER } },
    ],
    ["a weekly refill without a day", { refill: { interval: "weekly", amount: 1 } }],
    ["a refill on day 8 of a week", { refill: { interval: "weekly", amount: 1, refillDay: 8 } }],
    ["a refill of no span", { refill: { interval: {}, amount: 1 } }],
    ["a refill of null", { refill: { interval: null, amount: 1 } }],
    ["a refill each second", { refill: { interval: { every: 1_000 }, amount: 1 } }],
    ["a refill of too long a span", { refill: { interval: { every: 2 ** 52 + 1 }, amount: 1 } }],
    ["a chain that began at no instant", { chainCreatedAt: "yesterday" }],
    ["a monthly refill without a day", { refill: { interval: "monthly", amount: 1 } }],
    ["a refill on day 0", { refill: { interval: "monthly", amount: 1, refillDay: 0 } }],
    ["a refill on day 32", { refill: { interval: "monthly", amount: 1, refillDay: 32 } }],
    ["uses from nobody", { usesFrom: "nobody" }],
    ["metadata that is a list", { meta: [] }],
  ])("with %s is damaged", (_, members) => {
    expect(() => decode({ ...bare, ...members })).toThrow(
      expect.objectContaining({ code: "STORE_CORRUPT" }),
    );
  });

  test("may be refilled on any day from 1 to 31", () => {
    for (const refillDay of [1, 31]) {
      const refill = { interval: "monthly", amount: 1, refillDay } as const;
      expect(decode({ ...bare, refill }).refill).toEqual(refill);
    }
  });
});

describe("a limit in the words of the HTTP contract", () => {
  const limit = { limit: 10, duration: 60_000 };

  test("without a name is the one named default, which applies by itself", () => {
    expect(fromWireKeyLimit(limit)).toEqual(limitNamed("default"));
    expect(fromWireKeyLimit({ ...limit, autoApply: false }).autoApply).toBe(true);
  });

  test("of another name applies by itself only if it says so", () => {
    expect(fromWireKeyLimit({ ...limit, name: "a" })).toEqual(limitNamed("a"));
    expect(fromWireKeyLimit({ ...limit, name: "a", autoApply: true }).autoApply).toBe(true);
  });

  test("of type fast is async unless it says otherwise", () => {
    expect(fromWireKeyLimit({ ...limit, type: "fast" }).async).toBe(true);
    expect(fromWireKeyLimit({ ...limit, type: "fast", async: false }).async).toBe(false);
    expect(fromWireKeyLimit({ ...limit, type: "consistent" }).async).toBe(false);
  });
});

describe("an entry of the audit log", () => {
  test("is stored compactly: derivable fields are left out", () => {
    const fields = [
      { field: "name", before: "tides", after: "gates" },
      { field: "expires", before: 5 },
      { field: "remaining", after: 7 },
    ];
    expect(auditEntryType.encode({ ...entry, identityId: null, fields }).body).toEqual({
      type: "key.updated",
      at: 1,
      actor: "root_1",
      keyId: "key_1",
      before: { name: "tides", expires: 5 },
      after: { name: "gates", remaining: 7 },
    });
  });

  test("is about the key that it names, or the identity if it names no key, unless it says otherwise", () => {
    const bodyOf = (members: Partial<AuditEntry>) =>
      auditEntryType.encode({ ...entry, ...members }).body;
    expect(bodyOf({})).not.toHaveProperty("resourceId");
    expect(bodyOf({ keyId: null, resourceId: "id_1" })).not.toHaveProperty("resourceId");
    expect(bodyOf({ resourceId: "id_1" })).toHaveProperty("resourceId", "id_1");
    expect(bodyOf({ resourceId: "api_1" })).toHaveProperty("resourceId", "api_1");
    const nothing = {
      ...auditEntryType.encode(entry),
      version: 2,
      body: { type: "key.updated", at: 1 },
    };
    expect(() => auditEntryType.decode(nothing, WORKSPACE_ID)).toThrow(
      expect.objectContaining({ code: "STORE_CORRUPT" }),
    );
  });

  test.each([[{ before: ["name"] }], [{ after: "name" }], [{ before: 7 }], [{ after: null }]])(
    "with the values %j is damaged",
    (values) => {
      const stored = { ...auditEntryType.encode(entry), version: 2 };
      const body = { ...(stored.body as object), ...values } as never;
      expect(() => auditEntryType.decode({ ...stored, body }, WORKSPACE_ID)).toThrow(
        expect.objectContaining({ code: "STORE_CORRUPT" }),
      );
    },
  );
});
