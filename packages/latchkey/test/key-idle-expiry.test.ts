import { interceptStore, type KeyStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore, describeOnMemoryOrAll } from "./every-store.js";
import { DAY_MS, describeOnMemory, issue, NOON, rejectionOf } from "./test-context.js";

/** Counts are written only when a latchkey is closed. */
const LATE = { usage: { flushMs: "1h" } } as const;

describeOnMemoryOrAll("a key that expires when it is not used", (open) => {
  test("expires exactly its span after its creation, and shows that instant", async () => {
    const context = open(LATE);
    const { latchkey } = context;
    const idleExpiresAt = NOON + 2 * DAY_MS;
    const { apiId, keyId, key } = await issue(context, { expiresWhenUnused: "2d" });
    const shown = { expiresWhenUnused: 2 * DAY_MS, idleExpiresAt };
    expect(await latchkey.getKey({ keyId })).toMatchObject({ ...shown, enabled: true });
    context.setClock(idleExpiresAt - 1);
    expect((await latchkey.explainKey({ keyId })).code).toBe("VALID");
    context.setClock(idleExpiresAt);
    const dead = { code: "EXPIRED", enabled: false };
    for (const one of [latchkey, context.another()])
      expect(await one.verifyKey({ key })).toMatchObject(dead);
    expect((await latchkey.listKeys({ apiId })).keys).toMatchObject([{ ...shown, enabled: false }]);
    const { checks } = await latchkey.verifyKey({ key, dryRun: true });
    expect(checks).toContainEqual({ check: "idle", passed: false, idleExpiresAt });
    await latchkey.updateKey({ keyId, expiresWhenUnused: null });
    expect(await context.another().verifyKey({ key })).toMatchObject({ code: "VALID" });
  });

  test("restarts its span when it is enabled again, and its successor starts one with its creation", async () => {
    const context = open(LATE);
    const { latchkey } = context;
    const { keyId, key } = await issue(context, { expiresWhenUnused: DAY_MS });
    context.advance(DAY_MS / 2);
    const successor = await latchkey.rotateKey({ keyId, graceMs: "9d" });
    context.advance(DAY_MS / 2);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "EXPIRED" });
    expect(await latchkey.explainKey({ keyId: successor.keyId })).toMatchObject({ code: "VALID" });
    context.advance(DAY_MS / 2);
    const refused = await rejectionOf(latchkey.rotateKey({ keyId: successor.keyId }));
    expect(refused).toMatchObject({ code: "PRECONDITION_FAILED", reason: "key-expired" });
    await latchkey.updateKey({ keyId: successor.keyId, enabled: true });
    context.advance(DAY_MS - 1);
    expect(await context.another().verifyKey({ key: successor.key })).toMatchObject({
      code: "VALID",
    });
  });
});

describeOnEveryStore("a key that expires when it is not used", (open) => {
  test("stays alive in every process once one of them has verified it, long before counts are written", async () => {
    const context = open(LATE);
    const { key } = await issue(context, { expiresWhenUnused: "2d" });
    const [one, other] = [context.another(), context.another()];
    const codeOf = async (latchkey: typeof one) => (await latchkey.verifyKey({ key })).code;
    // The other process has the original record in its cache.
    expect(await codeOf(other)).toBe("VALID");
    context.advance(2 * DAY_MS - 1);
    expect(await codeOf(one)).toBe("VALID");
    context.advance(1);
    expect(await codeOf(other)).toBe("VALID");
    expect(await codeOf(context.another())).toBe("VALID");
    context.advance(DAY_MS - 1);
    // A process that died has written no counts.
    expect(await codeOf(context.another())).toBe("VALID");
    context.advance(2 * DAY_MS);
    expect(await codeOf(one)).toBe("EXPIRED");
    expect(await codeOf(other)).toBe("EXPIRED");
  });

  test("gets no wait that ends after its expiry", async () => {
    const context = open();
    const issued = async (hours: number) => {
      const refill = { interval: { every: `${hours}h` }, amount: 1 } as const;
      return (await issue(context, { remaining: 1, refill, expiresWhenUnused: "1d" })).key;
    };
    const [late, soon] = [await issued(36), await issued(22)];
    for (const key of [late, soon])
      expect((await context.latchkey.verifyKey({ key })).code).toBe("VALID");
    context.advance((20 * DAY_MS) / 24);
    for (const latchkey of [context.latchkey, context.another()]) {
      const refused = await latchkey.verifyKey({ key: late });
      expect(refused.code).toBe("USAGE_EXCEEDED");
      expect(refused).not.toHaveProperty("retryAfterMs");
      const { retryAfterMs } = (await latchkey.verifyKey({ key: soon })) as {
        readonly retryAfterMs?: number;
      };
      expect(retryAfterMs).toBe((2 * DAY_MS) / 24);
    }
    context.advance((2 * DAY_MS) / 24);
    expect((await context.another().verifyKey({ key: soon })).code).toBe("VALID");
  });
});

describeOnMemory("a key that expires when it is not used", (open) => {
  test("has a span of at least a day", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, keyId } = await issue(context);
    for (const expiresWhenUnused of ["24h", "1440m", "86400s", DAY_MS, "90d"] as const)
      await latchkey.updateKey({ keyId, expiresWhenUnused });
    for (const expiresWhenUnused of ["23h", DAY_MS - 1, 0, "1w", 1.5, 2 ** 53] as never[])
      for (const call of [
        latchkey.createKey({ apiId, expiresWhenUnused }),
        latchkey.updateKey({ keyId, expiresWhenUnused }),
      ])
        expect((await rejectionOf(call)).issues).toMatchObject([{ path: "expiresWhenUnused" }]);
  });

  test("counts its span from its start, or from its import", async () => {
    const context = open();
    const { latchkey } = context;
    const startsAt = NOON + 5 * DAY_MS;
    const { apiId, keyId } = await issue(context, { startsAt, expiresWhenUnused: "1d" });
    expect((await latchkey.getKey({ keyId })).idleExpiresAt).toBe(startsAt + DAY_MS);
    const createdAt = NOON - 400 * DAY_MS;
    const plaintext = "old_3f9c2a7d51e84b06";
    const imported = { apiId, plaintext, createdAt, expiresWhenUnused: "90d" } as const;
    await latchkey.createKeys([imported]);
    expect(await latchkey.verifyKey({ key: plaintext })).toMatchObject({ code: "VALID" });
  });

  test("stores one use per half of its span, however often it is used, and without writes for other keys", async () => {
    const context = open(LATE);
    let stored = 0;
    const counting: KeyStore = interceptStore(context.store, ({ method }, call) => {
      if (method === "addStatistics") stored += 1;
      return call();
    });
    const latchkey = context.another({ store: counting });
    const { key } = await issue(context, { expiresWhenUnused: "10d" });
    const plain = await issue(context);
    for (let hour = 0; hour < 24 * 20; hour += 1) {
      expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "VALID" });
      expect(await latchkey.verifyKey({ key: plain.key })).toMatchObject({ code: "VALID" });
      context.advance(DAY_MS / 24);
    }
    expect(stored).toBe(3);
  });

  test("is admitted even if its use could not be stored, and its event names the idle expiry instead of the fixed one", async () => {
    const context = open(LATE);
    const failing: KeyStore = interceptStore(context.store, ({ method }, call) =>
      method === "addStatistics" ? Promise.reject(new Error("away")) : call(),
    );
    const events: unknown[] = [];
    const latchkey = context.another({
      store: failing,
      onEvent: (event) => {
        if (event.type === "key.expired") events.push(event.expiredAt);
      },
    });
    const { key } = await issue(context, { expiresWhenUnused: "2d", expires: NOON + 9 * DAY_MS });
    context.advance(DAY_MS);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "VALID" });
    context.advance(DAY_MS);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "EXPIRED" });
    expect(events).toEqual([NOON + 2 * DAY_MS]);
  });

  test("is refused if uses are not counted", async () => {
    const context = open({ usage: false });
    const { latchkey } = context;
    const { apiId, keyId } = await issue(context);
    const expiresWhenUnused = "90d";
    const plaintext = "old_3f9c2a7d51e84b06";
    for (const call of [
      latchkey.createKey({ apiId, expiresWhenUnused }),
      latchkey.updateKey({ keyId, expiresWhenUnused }),
      latchkey.createKeys([{ apiId, plaintext, expiresWhenUnused }]),
    ])
      expect(await rejectionOf(call)).toMatchObject({
        code: "PRECONDITION_FAILED",
        reason: "usage-off",
        details: { field: "expiresWhenUnused" },
      });
    await latchkey.updateKey({ keyId, expiresWhenUnused: null });
  });
});
