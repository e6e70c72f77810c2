import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { NOON } from "./test-context.js";

const HOUR = { start: NOON, end: NOON + 3_600_000, granularity: "hour" } as const;

describeOnEveryStore("usage of a process that ends", (open) => {
  test("close writes the counts of verifications and settlements that are under way", async () => {
    const context = open();
    // What is in memory would be gone.
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
});
