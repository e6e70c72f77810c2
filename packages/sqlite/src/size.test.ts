import { createLatchkey, type Latchkey } from "@latchkey/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { openScratch, withDatabase } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

const KEYS = 2_000;
const BATCH = 100;

interface Fixture {
  readonly latchkey: Latchkey;
  readonly apiId: string;
  readonly number: number;
}

const plain = ({ latchkey, apiId }: Fixture) => latchkey.createKey({ apiId, prefix: "pay_live" });

/** Ten keys per identity, each with uses, a window and a role. */
const owned = ({ latchkey, apiId, number }: Fixture) =>
  latchkey.createKey({
    apiId,
    prefix: "pay_live",
    externalId: `user_${number % (KEYS / 10)}`,
    roles: ["reader"],
    remaining: 1_000,
    ratelimit: { limit: 100, duration: 60_000 },
  });

/** An empty store takes the same space however many keys follow. */
const emptyPath = scratch.newPath();
beforeAll(() => sqliteStore(emptyPath).close());

test.each([
  { title: "a plain key without the audit log", create: plain, auditLog: false, bytes: 340 },
  { title: "a plain key with its audit entry", create: plain, auditLog: true, bytes: 650 },
  { title: "an identity's key without the audit log", create: owned, auditLog: false, bytes: 560 },
  { title: "an identity's key with its audit entry", create: owned, auditLog: true, bytes: 1_130 },
])("$title takes at most $bytes bytes of the file", async ({ create, auditLog, bytes }) => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const latchkey = createLatchkey({ store, auditLog });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  await latchkey.createRole({ name: "reader" });
  for (let first = 0; first < KEYS; first += BATCH)
    await Promise.all(
      Array.from({ length: BATCH }, (_, at) => create({ latchkey, apiId, number: first + at })),
    );
  await store.close();
  expect((sizeOf(path) - sizeOf(emptyPath)) / KEYS).toBeLessThanOrEqual(bytes);
});

function sizeOf(path: string): number {
  return withDatabase(path, (database) => {
    const read = (name: string) => Number(database.pragma(name, { simple: true }));
    return read("page_count") * read("page_size");
  });
}
