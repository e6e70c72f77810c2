import { expect } from "vitest";
import { examine } from "../../src/doctor/examination.js";
import type { Finding } from "../../src/doctor/finding.js";
import { HOUR_MS, NOON, type TestContext } from "../test-context.js";
import type { Journey } from "./journey.js";

/** Problems that a doctor finds, except those of clocks: the test has another clock than the store. */
export async function illsOf({ another, store }: TestContext, fix: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const finding of examine({ latchkey: another(), store, fix, rings: {} }))
    findings.push(finding);
  return findings.filter(({ check, state }) => check !== "clock" && state !== "fine");
}

/** Checks and repairs of a store through its port. */
export const DOCTOR: Journey = {
  resource: "a doctor",
  title:
    "finds what a wrong clock put into the future, and a key that its hash lost, and mends both",
  async run(context) {
    const { latchkey, store } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key, keyId } = await latchkey.createKey({
      apiId,
      externalId: "harbour-office",
      remaining: 5,
      refill: { interval: "daily", amount: 5 },
      ratelimit: { limit: 10, duration: HOUR_MS },
    });
    expect(await illsOf(context, false)).toEqual([]);

    context.setClock(Date.UTC(2200, 0, 1, 12));
    expect((await context.another().verifyKey({ key })).code).toBe("VALID");
    context.setClock(NOON);
    expect((await illsOf(context, false)).map(({ found }) => found)).toEqual([
      `key ${keyId}: no refill until 2200-01-01T00:00:00.000Z; --fix mends it`,
      `key ${keyId}: the limit default stands still until 2200-01-01T13:00:00.000Z; --fix mends it`,
    ]);
    const { found } = await store.read("ws_default", [{ kind: "key", id: keyId }]);
    const { hash = "" } = (found[0]?.record.body ?? {}) as { readonly hash?: string };
    await store.commit("ws_default", {
      expects: [],
      puts: [],
      deletes: [],
      claims: [],
      releases: [{ kind: "key", index: "hash", value: hash, id: keyId }],
      enters: [],
      leaves: [],
      counters: [],
      dropWindows: [],
      revision: null,
    });
    expect((await context.another().verifyKey({ key })).code).toBe("NOT_FOUND");
    expect((await illsOf(context, true)).map(({ state }) => state)).toEqual(
      Array(3).fill("mended"),
    );
    expect(await illsOf(context, false)).toEqual([]);
    expect(await context.another().verifyKey({ key })).toMatchObject({
      code: "VALID",
      remaining: 3,
    });
  },
};
