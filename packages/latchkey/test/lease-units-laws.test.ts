import type { KeyStore, Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { HOUR_MS, issue, rejectionOf, type TestContext } from "./test-context.js";
import { unclosed, wrapped } from "./wrapped-store.js";

const LEASE_MS = 100;
/** Longer than a test of a few hundred verifications takes. */
const LONG_MS = 10_000;
const HOLDS = { kind: "key" } as const;

/** Verifies until this process decides by itself. */
async function untilLeased(latchkey: Latchkey, key: string, leased: () => number): Promise<number> {
  const before = leased();
  let count = 0;
  while (leased() === before) {
    count += (await latchkey.verifyKey({ key })).valid ? 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return count;
}

function counting(): { readonly onEvent: (event: object) => void; readonly leased: () => number } {
  let count = 0;
  const onEvent = (event: object) => {
    if ("leased" in event) count += 1;
  };
  return { onEvent, leased: () => count };
}

/** Calls to the store fail now and then, before or after they are done there. */
function faulty(store: KeyStore, chance: Chance, isCalm: () => boolean): KeyStore {
  const broken = async <Result>(call: () => Result | Promise<Result>): Promise<Result> => {
    const fate = isCalm() ? 2 : chance.below(12);
    if (fate === 0) throw Object.assign(new Error("lost"), { code: "STORE_UNAVAILABLE" });
    const result = await call();
    if (fate === 1) throw Object.assign(new Error("lost"), { code: "STORE_UNAVAILABLE" });
    return result;
  };
  return wrapped(unclosed(store), {
    charge: (...given) => broken(() => store.charge(...given)),
    settle: (...given) => broken(() => store.settle(...given)),
  });
}

async function heldOf({ store }: TestContext, keyId: string): Promise<number> {
  return (await store.holds("ws_default", { ...HOLDS, id: keyId }, null, 100)).length;
}

describeOnEveryStore("units ahead", (open, runs) => {
  test("E1, E3: over processes that lose answers, die and close, admitted is at most granted, and what was not used is there again", async () => {
    for (let run = 0; run < Math.max(1, runs(2)); run += 1) {
      const seed = 20_261_123 + run;
      const chance = chanceOf(seed);
      const { onEvent, leased } = counting();
      const context = open({ usage: false, leases: { ms: LEASE_MS, share: 0.1 }, onEvent });
      const { latchkey } = context;
      let granted = 3_000 + chance.below(3_000);
      const limit = 2_000 + chance.below(3_000);
      const { key, keyId } = await issue(context, {
        remaining: granted,
        ratelimit: { limit, duration: "1h" },
      });
      let admitted = 0;
      let isCalm = false;
      /** Of calls that failed, nobody knows. */
      let unknown = 0;
      const make = () =>
        context.another({
          store:
            chance.below(3) > 0
              ? faulty(context.store, chance, () => isCalm)
              : unclosed(context.store),
        });
      const first = context.another({ store: unclosed(context.store) });
      admitted += await untilLeased(first, key, leased);
      await first.close();
      const processes = [make(), make(), make()];
      let hasDied = false;
      for (let turn = 0; turn < 60; turn += 1) {
        const at = chance.below(processes.length);
        const each = processes[at] as Latchkey;
        const calls = Array.from({ length: 1 + chance.below(60) }, async () => {
          try {
            if ((await each.verifyKey({ key })).valid) admitted += 1;
          } catch {
            unknown += 1;
          }
        });
        await Promise.all(calls);
        const what = chance.below(20);
        if (what === 0) {
          const by = 1 + chance.below(500);
          await latchkey.updateRemaining({ keyId, op: "increment", value: by });
          granted += by;
        } else if (what === 1) {
          // What cannot be given back when a process closes is lost as if it died.
          isCalm = true;
          await each.close();
          isCalm = false;
          processes[at] = make();
        } else if (what === 2 && run % 2 === 1) {
          // As if it were killed: nobody hears of it again.
          hasDied = true;
          processes[at] = make();
        } else if (what < 5)
          await new Promise((resolve) => setTimeout(resolve, chance.below(LEASE_MS)));
      }
      isCalm = true;
      for (const each of processes) await each.close();
      const { remaining = 0, reserved = 0 } = await context
        .another({ leases: undefined })
        .getKey({ keyId });
      const about = `seed ${seed}: ${granted} granted, ${admitted} admitted, ${unknown} unknown, ${remaining} left, ${reserved} held`;
      expect(admitted, about).toBeLessThanOrEqual(Math.min(granted, limit));
      expect(granted - remaining - reserved, about).toBeGreaterThanOrEqual(hasDied ? 0 : admitted);
      expect(granted - remaining, about).toBeGreaterThanOrEqual(admitted);
      if (hasDied) continue;
      expect(reserved, about).toBe(0);
      expect(granted - remaining, about).toBeLessThanOrEqual(admitted + unknown);
    }
  });

  test("E3: a verdict counts down by one, and once it has closed, all that was not used is there again", async () => {
    const { onEvent, leased } = counting();
    const context = open({ leases: { ms: LONG_MS }, onEvent });
    const latchkey = context.another({ store: unclosed(context.store) });
    const { key, keyId } = await issue(context, {
      remaining: 100_000,
      ratelimit: { limit: 50_000, duration: "1h" },
    });
    let count = await untilLeased(latchkey, key, leased);
    for (let time = 0; time < 200; time += 1) {
      count += 1;
      const verdict = await latchkey.verifyKey({ key });
      expect(verdict).toMatchObject({
        remaining: 100_000 - count,
        ratelimit: { remaining: 50_000 - count },
      });
    }
    await latchkey.close();
    expect(await heldOf(context, keyId)).toBe(0);
    expect((await context.another({ leases: undefined }).getKey({ keyId })).remaining).toBe(
      100_000 - count,
    );
  });

  test("E2: units that were taken before uses were set, or a limit was emptied, admit nobody after that resolved", async () => {
    const { onEvent, leased } = counting();
    const context = open({ leases: { ms: LEASE_MS }, onEvent });
    const { latchkey } = context;
    const { key, keyId } = await issue(context, { remaining: 100_000 });
    await untilLeased(latchkey, key, leased);
    const plain = context.another({ leases: undefined });
    await plain.updateRemaining({ keyId, op: "set", value: 3 });
    const codes: string[] = [];
    for (let time = 0; time < 5; time += 1) codes.push((await latchkey.verifyKey({ key })).code);
    expect(codes).toEqual(["VALID", "VALID", "VALID", "USAGE_EXCEEDED", "USAGE_EXCEEDED"]);
    expect((await plain.getKey({ keyId })).remaining).toBe(0);
  });

  test("E1: units are used neither past a refill nor past the edge of their window", async () => {
    const { onEvent, leased } = counting();
    const context = open({ leases: { ms: LONG_MS }, onEvent });
    const { latchkey } = context;
    const { key } = await issue(context, {
      remaining: 100_000,
      refill: { interval: "hourly", amount: 100_000 },
      ratelimit: { limit: 90_000, duration: HOUR_MS },
    });
    context.advance(HOUR_MS - 1);
    await untilLeased(latchkey, key, leased);
    context.advance(1);
    const verdict = await latchkey.verifyKey({ key });
    expect(verdict).toMatchObject({ remaining: 99_999, ratelimit: { remaining: 89_999 } });
  });

  test("E4: a process that dies loses at most its share, which is shown as reserved; near the end nothing is taken ahead", async () => {
    const context = open({ usage: false, leases: { ms: LEASE_MS } });
    const { store, latchkey } = context;
    const { key, keyId } = await issue(context, { remaining: 1_000 });
    const dying = context.another({
      store: wrapped(store, { settle: () => new Promise(() => undefined) }),
    });
    let admitted = 0;
    while ((await heldOf(context, keyId)) === 0)
      admitted += (await dying.verifyKey({ key })).valid ? 1 : 0;
    const { remaining = 0, reserved = 0 } = await latchkey.getKey({ keyId });
    expect(remaining + reserved + admitted).toBeGreaterThanOrEqual(1_000);
    expect(reserved).toBeGreaterThan(0);
    expect(reserved).toBeLessThanOrEqual(10);
    expect((await latchkey.listReservations({ keyId })).reservations).toEqual([]);
    const tooMuch = latchkey.updateRemaining({ keyId, op: "decrement", value: remaining + 1 });
    expect(await rejectionOf(tooMuch)).toMatchObject({
      reason: "insufficient-uses",
      details: { remaining, reserved: { uses: reserved } },
    });
    const few = await latchkey.createKey({
      apiId: (await latchkey.getKey({ keyId })).apiId,
      remaining: 20,
    });
    let valid = 0;
    for (let time = 0; time < 30; time += 1)
      if ((await latchkey.verifyKey({ key: few.key })).valid) valid += 1;
    expect(valid).toBe(20);
  });
});
