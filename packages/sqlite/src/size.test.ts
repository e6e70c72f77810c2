import { createHash } from "node:crypto";
import type { JsonValue } from "@latchkey/core";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { commit, NOW } from "./testing/fixtures.js";
import { openScratch, withDatabase } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

const KEYS = 2_000;
const API_ID = "api_1a2b3c4d5e6f7g8h9i1j2k3l4m";
const ACTOR = "root_1a2b3c4d5e6f7g8h9i1j2k3l4m";

/** Ids as core makes them: in order, and 26 characters long but for their first word. */
const idOf = (kind: string, number: number) => `${kind}_1${String(number).padStart(25, "0")}`;
const hashOf = (number: number) => createHash("sha256").update(String(number)).digest("base64url");

function bodyOf(number: number): JsonValue {
  return {
    apiId: API_ID,
    start: "pay_live_ab",
    name: `key ${number}`,
    meta: { plan: "pro" },
    createdAt: NOW,
    ratelimits: [{ name: "default", limit: 100, duration: 60_000 }],
    identityId: idOf("id", number),
  };
}

const entryOf = (keyId: string): JsonValue => ({
  type: "key.created",
  at: NOW,
  actor: ACTOR,
  keyId,
  changes: { name: "a name", remaining: 1_000 },
});

test("a key with its uses, its hash, its lists and its audit entry takes at most 1,100 bytes", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const identities = KEYS / 10;
  for (let number = 0; number < KEYS; number += 1) {
    const [id, entry] = [idOf("key", number), idOf("evt", number)];
    const identityId = idOf("id", number % identities);
    const result = await commit(store, {
      puts: [
        {
          record: { kind: "key", id, version: 1, link: identityId, body: bodyOf(number) },
          counters: { usage: { remaining: 1_000, refilledAt: NOW, lastRefillAt: null } },
        },
        { record: { kind: "auditEntry", id: entry, version: 0, link: null, body: entryOf(id) } },
      ],
      claims: [{ kind: "key", index: "hash", value: hashOf(number), id }],
      enters: [
        { list: `keys:${API_ID}`, id },
        { list: "keys", of: identityId, id },
        { list: "audit", id: entry },
        { list: "audit", of: id, id: entry },
        { list: "audit", of: ACTOR, id: entry },
      ],
    });
    expect(result.kind).toBe("committed");
  }
  await store.close();
  const bytes = withDatabase(path, (database) => {
    const [pages, size] = ["page_count", "page_size"].map((name) =>
      Number(database.pragma(name, { simple: true })),
    );
    return (pages ?? 0) * (size ?? 0);
  });
  expect(bytes / KEYS).toBeLessThanOrEqual(1_100);
});
