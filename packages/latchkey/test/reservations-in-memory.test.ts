import { createLatchkey, type Latchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { heapUsed } from "./heap.js";
import { reserve } from "./reserving.js";

const FIRST = 50;
const MORE = 600;
const MB = 1_000_000;

/** Large enough to show a kept copy of the key on the heap. */
const meta = (at: number) => ({ note: `${at} ${"x".repeat(15_000)}` });

/** Makes reservations, each with another version of the key. */
async function reserveMany(latchkey: Latchkey, keyId: string, key: string, count: number) {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    await latchkey.updateKey({ keyId, meta: meta(at) });
    ids.push(await reserve(latchkey, { key, ttl: "1h" }));
  }
  return ids;
}

describe("memory of a process", () => {
  test("an open reservation does not keep its version of the key, and a settled one keeps nothing", async () => {
    const latchkey = createLatchkey({ store: memoryStore(), auditLog: false, usage: false });
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: 1_000_000 });
    for (const reservationId of await reserveMany(latchkey, keyId, key, FIRST))
      await latchkey.settle({ reservationId });
    const before = heapUsed();
    const open = await reserveMany(latchkey, keyId, key, MORE);
    // 600 versions of 15 kB would be 9 MB.
    expect(heapUsed() - before).toBeLessThan(4 * MB);
    for (const reservationId of open) await latchkey.settle({ reservationId });
    const { remaining } = await latchkey.getKey({ keyId });
    expect(remaining).toBe(1_000_000 - FIRST - MORE);
    await latchkey.close();
  });
});
