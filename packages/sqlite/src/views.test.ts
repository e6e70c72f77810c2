import { labelsOf } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { commit, keyIdOf, NOW, WORKSPACE, withUses } from "./testing/fixtures.js";

const database = new Database(":memory:");
const store = sqliteStore(database);
afterAll(() => database.close());

const KEY = {
  apiId: "api_1",
  start: "pay_live_ab",
  name: "billing",
  hash: "the hash",
  sealedSecret: "the sealed secret",
  identityId: "id_1",
  meta: { plan: "pro" },
  createdAt: NOW,
  expires: NOW + 1,
  ratelimits: [{ name: "default", limit: 5, duration: 1_000 }],
  usesFrom: "key",
  roles: ["role_1"],
  tags: ["eu", "beta"],
  ipWhitelist: ["10.0.0.0/8"],
  startsAt: NOW - 1,
  expiresWhenUnused: 86_400_000,
};

beforeAll(async () => {
  const identity = { externalId: "user-1", meta: { tier: 1 }, createdAt: NOW };
  const entry = {
    type: "key.created",
    at: NOW,
    actor: "root_1",
    keyId: keyIdOf(1),
    identityId: "id_1",
    before: { expires: 5 },
    after: { name: "billing" },
  };
  const other = { type: "api.created", at: NOW, resourceId: "api_1", after: { name: "payments" } };
  const shared = { version: 1, link: null };
  await commit(store, {
    puts: [
      withUses({ kind: "key", id: keyIdOf(1), version: 7, link: "id_1", body: KEY }, 12),
      { record: { kind: "key", id: keyIdOf(2), ...shared, body: { disabled: true } } },
      withUses({ kind: "identity", id: "id_1", ...shared, body: identity }, 3),
      { record: { kind: "auditEntry", id: "evt_1", ...shared, body: entry } },
      { record: { kind: "auditEntry", id: "evt_2", ...shared, body: other } },
      { record: { kind: "api", id: "api_1", ...shared, body: { name: "payments" } } },
    ],
  });
  const uses = [{ kind: "key", id: keyIdOf(1), usedAt: NOW + 5 } as const];
  await store.addStatistics(WORKSPACE, { counts: [], uses });
});

const rowsOf = (view: string) => database.prepare(`SELECT * FROM ${view} ORDER BY id`).all();

test("latchkey_keys shows each key in columns, null for fields that it lacks, and neither hash nor sealed secret", () => {
  const [first, second] = rowsOf("latchkey_keys") as Record<string, unknown>[];
  expect(first).toEqual({
    workspaceId: WORKSPACE,
    id: keyIdOf(1),
    version: 7,
    apiId: "api_1",
    start: "pay_live_ab",
    ...labelsOf(() => null),
    name: "billing",
    identityId: "id_1",
    meta: '{"plan":"pro"}',
    createdAt: NOW,
    updatedAt: null,
    expires: NOW + 1,
    switchedOn: 1,
    refill: null,
    ratelimits: '[{"name":"default","limit":5,"duration":1000}]',
    usesFrom: "key",
    rotatedFrom: null,
    rotatedTo: null,
    roles: '["role_1"]',
    permissions: null,
    remaining: 12,
    usedAt: NOW + 5,
    tags: '["eu","beta"]',
    ipWhitelist: '["10.0.0.0/8"]',
    startsAt: NOW - 1,
    expiresWhenUnused: 86_400_000,
  });
  expect(second).toMatchObject({ id: keyIdOf(2), switchedOn: 0, name: null, remaining: null });
  expect(JSON.stringify([first, second])).not.toContain("the ");
});

test("latchkey_identities and latchkey_audit show theirs", () => {
  expect(rowsOf("latchkey_identities")).toMatchObject([
    {
      workspaceId: WORKSPACE,
      id: "id_1",
      externalId: "user-1",
      meta: '{"tier":1}',
      refill: null,
      remaining: 3,
    },
  ]);
  expect(rowsOf("latchkey_audit")).toMatchObject([
    {
      id: "evt_1",
      type: "key.created",
      at: NOW,
      actor: "root_1",
      resourceId: keyIdOf(1),
      keyId: keyIdOf(1),
      identityId: "id_1",
      before: '{"expires":5}',
      after: '{"name":"billing"}',
    },
    { id: "evt_2", resourceId: "api_1", keyId: null, identityId: null, before: null },
  ]);
});

test("views of an earlier schema get the columns that were added later", async () => {
  database.exec(
    "DROP VIEW latchkey_keys; CREATE VIEW latchkey_keys AS SELECT id FROM latchkey_record",
  );
  database.exec("UPDATE latchkey_schema SET version = 4");
  await sqliteStore(database).close();
  expect(rowsOf("latchkey_keys")[0]).toMatchObject({ tags: '["eu","beta"]', startsAt: NOW - 1 });
});

test("a damaged body shows no fields, and hides no other row", () => {
  database.exec("UPDATE latchkey_record SET body = '{\"name\"' WHERE id = 'key_000000000002'");
  expect(rowsOf("latchkey_keys")).toMatchObject([
    { name: "billing" },
    { id: keyIdOf(2), switchedOn: null },
  ]);
});

test("nothing can be written through a view", () => {
  expect(() => database.exec("UPDATE latchkey_keys SET switchedOn = 1")).toThrow("cannot modify");
});
