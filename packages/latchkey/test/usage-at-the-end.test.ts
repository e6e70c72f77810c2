import { createLatchkey } from "@latchkey/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { NOON } from "./test-context.js";

const HOUR = { start: NOON, end: NOON + 3_600_000, granularity: "hour" } as const;

describeOnEveryStore("usage of a process that ends", (open) => {
  test("close writes the counts of verifications and settlements in progress", async () => {
    const context = open();
    // Counts in memory would be lost.
    const ending = context.another({
      store: { ...context.store, close: async () => undefined },
    });
    const { apiId } = await ending.createApi({ name: "tides" });
    const { key = "", keyId } = await ending.createKey({ apiId, remaining: 1_000 });
    const held = await ending.reserve({ key, remaining: { cost: 10 }, ttl: "5m" });
    if (!held.valid) throw new Error(held.code);
    const { reservationId } = held;
    const calls = [
      ...Array.from({ length: 30 }, () => ending.verifyKey({ key })),
      ending.settle({ reservationId, remaining: { cost: 7 } }),
    ];
    const settled = Promise.allSettled(calls);
    await ending.close();
    const failed = (await settled).filter(({ status }) => status === "rejected");
    expect(failed).toEqual([]);
    const { latchkey } = context;
    const { verifications } = await latchkey.getVerifications({ keyId, ...HOUR });
    expect(verifications[0]?.outcomes.VALID).toBe(31);
    context.advance(2 * 3_600_000);
    const { rows } = await latchkey.exportUsage({ ...HOUR, by: "key" });
    expect(rows.map(({ uses }) => uses)).toEqual([37]);
    expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 963 });
  });

  test("counts from before a machine slept are in an hour that was not exported yet", async () => {
    // While the machine sleeps, its timers stand still. Its clock is corrected when it wakes up.
    vi.useFakeTimers({ toFake: ["Date"], now: NOON + 30 * 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const { store } = open();
    const asleep = createLatchkey({ store, usage: { flushMs: "1h" } });
    const { apiId } = await asleep.createApi({ name: "tides" });
    const { key = "" } = await asleep.createKey({ apiId });
    for (let verified = 0; verified < 3; verified += 1) await asleep.verifyKey({ key });
    vi.setSystemTime(NOON + 70 * 60_000);
    const billing = createLatchkey({ store });
    const ask = { granularity: "hour", by: "key" } as const;
    const first = await billing.exportUsage({ ...ask, start: NOON, end: billing.now() });
    expect(first).toEqual({ rows: [], until: NOON + 3_600_000 });
    await asleep.getVerifications({ apiId, ...HOUR });
    vi.setSystemTime(NOON + 130 * 60_000);
    const next = await billing.exportUsage({ ...ask, start: first.until, end: billing.now() });
    expect(next.rows.map(({ uses }) => uses)).toEqual([3]);
  });
});
