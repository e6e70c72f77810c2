import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { describe, expect, test } from "vitest";
import { copy } from "../copy.js";
import { behindTheKeys } from "../testing/behind-the-keys.js";

const HOUR_MS = 3_600_000;

describe.each([
  ["memory", () => memoryStore()],
  ["SQLite", () => sqliteStore(":memory:")],
])("a live copy to %s of a key that was rotated", (_, openTarget) => {
  test("counts what its predecessor took before it was deleted", async () => {
    const [store, to] = [memoryStore(), openTarget()];
    const server = createLatchkey({ store });
    const { apiId } = await server.createApi({ name: "tiles" });
    const ratelimit = { limit: 500, duration: "30d", algorithm: "sliding" } as const;
    const old = await server.createKey({ apiId, remaining: 1_000, ratelimit });
    const next = await server.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    const from = behindTheKeys(store, async () => {
      for (let time = 0; time < 100; time += 1)
        expect((await server.verifyKey({ key: old.key })).valid).toBe(true);
      await server.deleteKey({ keyId: old.keyId });
    });
    await copy(from, to, { live: true });
    const verdict = await createLatchkey({ store: to }).verifyKey({ key: next.key });
    expect(verdict).toMatchObject({ valid: true, remaining: 899, ratelimit: { remaining: 399 } });
    await to.close();
  });

  test("has the uses set through its predecessor, and the limits changed there", async () => {
    const [store, to] = [memoryStore(), openTarget()];
    const server = createLatchkey({ store });
    const { apiId } = await server.createApi({ name: "tiles" });
    const ratelimit = { limit: 500, duration: "30d" } as const;
    const old = await server.createKey({ apiId, remaining: 1_000, ratelimit });
    const next = await server.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    await server.verifyKey({ key: old.key });
    const from = behindTheKeys(store, async () => {
      await server.updateKey({ keyId: old.keyId, remaining: 7 });
      await server.resetLimit({ keyId: old.keyId, name: "default" });
      await server.deleteKey({ keyId: old.keyId });
    });
    await copy(from, to, { live: true });
    const verdict = await createLatchkey({ store: to }).verifyKey({ key: next.key });
    expect(verdict).toMatchObject({ remaining: 6, ratelimit: { remaining: 499 } });
    await to.close();
  });

  test.each(["settle", "release"] as const)(
    "has the outcome of a reservation of its predecessor, which was deleted long before: %s",
    async (end) => {
      let now = Date.now();
      const clock = () => now;
      const [store, to] = [memoryStore(), openTarget()];
      const server = createLatchkey({ store, clock });
      const { apiId } = await server.createApi({ name: "tiles" });
      const old = await server.createKey({ apiId, remaining: 1_000 });
      const reserved = await server.reserve({ key: old.key, remaining: { cost: 400 }, ttl: "1h" });
      if (!reserved.valid) return expect.unreachable();
      const { reservationId } = reserved;
      const next = await server.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
      await server.deleteKey({ keyId: old.keyId });
      const from = behindTheKeys(store, async () => {
        await server[end]({ reservationId });
      });
      await copy(from, to, { live: true });
      const target = createLatchkey({ store: to, clock });
      const left = { remaining: end === "settle" ? 600 : 1_000, reserved: undefined };
      for (const later of [0, 2 * HOUR_MS]) {
        now += later;
        const { remaining, reserved: held } = await target.getKey({ keyId: next.keyId });
        expect({ remaining, reserved: held }).toEqual(left);
      }
      await to.close();
    },
  );
});
