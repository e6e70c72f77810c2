import type { KeyStore, Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { counting, untilLeased, verifyInUse } from "./keys-in-use.js";
import { HOUR_MS, issue, rejectionOf, type TestContext } from "./test-context.js";
import { unclosed, wrapped } from "./wrapped-store.js";

const LEASE_MS = 100;
/** Longer than a test of a few hundred verifications takes. */
const LONG_MS = 10_000;
const HOLDS = { kind: "key" } as const;

/** A store whose calls fail from time to time, before or after they are executed. */
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
      // Uses of an identity, in addition to a limit of the key.
      const isShared = run % 3 !== 1;
      if (isShared) await latchkey.createIdentity({ externalId: "pier", remaining: granted });
      const { key, keyId } = await issue(context, {
        ...(isShared
          ? { externalId: "pier", usesFrom: "identity" as const }
          : { remaining: granted }),
        ratelimit: { limit, duration: "1h" },
      });
      const uses = isShared ? { externalId: "pier" } : { keyId };
      let admitted = 0;
      let isCalm = false;
      /** Failed calls, whose outcome is unknown. */
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
          await latchkey.updateRemaining({ ...uses, op: "increment", value: by });
          granted += by;
        } else if (what === 1) {
          // Units that a closing process cannot return are lost, as if it had died.
          isCalm = true;
          await each.close();
          isCalm = false;
          processes[at] = make();
        } else if (what === 2 && run % 2 === 1) {
          // As if killed: nothing of it reaches the store any more.
          hasDied = true;
          processes[at] = make();
        } else if (what < 5)
          await new Promise((resolve) => setTimeout(resolve, chance.below(LEASE_MS)));
      }
      isCalm = true;
      for (const each of processes) await each.close();
      const plain = context.another({ leases: undefined });
      const { remaining = 0, reserved = 0 } = await (isShared
        ? plain.getIdentity({ externalId: "pier" })
        : plain.getKey({ keyId }));
      const about = `seed ${seed}: ${granted} granted, ${admitted} admitted, ${unknown} unknown, ${remaining} left, ${reserved} held`;
      expect(admitted, about).toBeLessThanOrEqual(Math.min(granted, limit));
      expect(granted - remaining - reserved, about).toBeGreaterThanOrEqual(hasDied ? 0 : admitted);
      expect(granted - remaining, about).toBeGreaterThanOrEqual(admitted);
      if (hasDied) continue;
      expect(reserved, about).toBe(0);
      expect(granted - remaining, about).toBeLessThanOrEqual(admitted + unknown);
    }
  });

  test("E1, E3, S1, S2: of two keys of one identity, no span, no window and no use is admitted that was not granted", async () => {
    for (let run = 0; run < runs(2); run += 1) {
      const seed = 20_261_124 + run;
      const chance = chanceOf(seed);
      const { onEvent, leased } = counting();
      const context = open({ usage: false, leases: { ms: LONG_MS, share: 0.5 }, onEvent });
      const { latchkey } = context;
      const figures = {
        own: { limit: 200 + chance.below(200), duration: 2_000, algorithm: "sliding" },
        all: { limit: 250 + chance.below(250), duration: 4_000, algorithm: "sliding" },
        minute: { limit: 800 + chance.below(800), duration: 60_000, algorithm: "fixed" },
      } as const;
      const { own, all, minute } = figures;
      const granted = 2_000 + chance.below(2_000);
      await latchkey.createIdentity({
        externalId: "harbour",
        remaining: granted,
        ratelimits: [
          { name: "all", ...all, autoApply: true },
          { name: "minute", ...minute, autoApply: true },
        ],
      });
      const alone = { externalId: "harbour", remaining: granted, ratelimit: own };
      const { apiId, key } = await issue(context, alone);
      const { key: other } = await latchkey.createKey({
        apiId,
        externalId: "harbour",
        usesFrom: "identity",
      });
      /** The instants of admission by key. */
      const admitted = new Map<string, number[]>([
        [key, []],
        [other, []],
      ]);
      const make = () => context.another({ store: unclosed(context.store) });
      const processes = [make(), make(), make()];
      const plain = context.another({ leases: undefined });
      for (const [asked, instants] of admitted) {
        const count = await untilLeased(chance.pick(processes), asked, leased);
        instants.push(...Array<number>(count).fill(context.now()));
      }
      for (let turn = 0; turn < 30; turn += 1) {
        const each = chance.pick(processes);
        const asked = chance.pick([key, other]);
        const at = context.now();
        for (let left = 1 + chance.below(chance.pick([8, 90])); left > 0; left -= 1)
          if ((await each.verifyKey({ key: asked })).valid) admitted.get(asked)?.push(at);
        if (chance.below(3) > 0) context.advance(chance.below(chance.pick([10, 300, 2_000])));
        if (chance.below(10) > 0) continue;
        const dead = chance.below(processes.length);
        await processes[dead]?.close();
        processes[dead] = make();
      }
      for (const each of processes) await each.close();
      const ofKey = admitted.get(key) ?? [];
      const ofAll = [...ofKey, ...(admitted.get(other) ?? [])].sort((one, two) => one - two);
      const within = (instants: readonly number[], from: number, to: number) =>
        instants.filter((at) => at > from && at <= to).length;
      const about = `seed ${seed}: ${JSON.stringify(figures)}, ${ofAll.length} admitted, ${leased()} of these leased`;
      for (const [{ limit, duration }, instants] of [
        [own, ofKey],
        [all, ofAll],
      ] as const)
        for (const at of new Set(instants))
          expect(within(instants, at - duration, at), about).toBeLessThanOrEqual(limit);
      const start = (at: number) => at - (at % minute.duration);
      for (const at of new Set(ofAll.map(start)))
        expect(within(ofAll, at - 1, at + minute.duration - 1), about).toBeLessThanOrEqual(
          minute.limit,
        );
      const now = context.now();
      const verdict = await plain.verifyKey({ key });
      if (!("remaining" in verdict)) throw new TypeError(`a verdict that says nothing: ${about}`);
      if (verdict.valid) {
        ofKey.push(now);
        ofAll.push(now);
      }
      const left = (name: string) =>
        (verdict.ratelimits ?? []).find((each) => each.name === name)?.remaining ??
        verdict.ratelimit?.remaining ??
        0;
      const { remaining: identityLeft } = await plain.getIdentity({ externalId: "harbour" });
      expect(verdict.remaining, about).toBe(granted - ofKey.length);
      expect(identityLeft, about).toBe(granted - (ofAll.length - ofKey.length));
      expect(left("minute"), about).toBe(minute.limit - within(ofAll, start(now) - 1, now));
      for (const [name, { limit, duration }, instants] of [
        ["default", own, ofKey],
        ["all", all, ofAll],
      ] as const) {
        const counted = limit - left(name);
        expect(counted, about).toBeGreaterThanOrEqual(within(instants, now - duration, now));
        const group = Math.ceil(duration / 16);
        expect(counted, about).toBeLessThanOrEqual(within(instants, now - duration - group, now));
      }
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

  test("E1: leased units are used neither after a refill nor beyond their window", async () => {
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

  test("E1, E3, E4: uses of an identity that a process holds for a key come back once the key is deleted, and are never more than its share", async () => {
    const { onEvent, leased } = counting();
    const context = open({ leases: { ms: LEASE_MS }, onEvent });
    let mayGiveBack = false;
    const store = wrapped(unclosed(context.store), {
      settle: async (...given) => {
        if (mayGiveBack) return context.store.settle(...given);
        throw Object.assign(new Error("not yet"), { code: "STORE_UNAVAILABLE" });
      },
    });
    const latchkey = context.another({ store });
    const plain = context.another({ leases: undefined });
    await plain.createIdentity({ externalId: "ferry", remaining: 5_000 });
    const shared = { externalId: "ferry", usesFrom: "identity" } as const;
    const { apiId, ...first } = await issue({ ...context, latchkey: plain }, shared);
    const keys = [first, await plain.createKey({ apiId, ...shared })];
    let count = 0;
    for (const { key } of keys) count += await untilLeased(latchkey, key, leased);
    let { remaining = 0, reserved = 0 } = await plain.getIdentity({ externalId: "ferry" });
    // On a slow machine, the leases may be over before the last verification, which then ends them.
    while (reserved === 0) {
      count += await untilLeased(latchkey, first.key, leased);
      ({ remaining = 0, reserved = 0 } = await plain.getIdentity({ externalId: "ferry" }));
    }
    expect(reserved).toBeLessThanOrEqual(50);
    expect(remaining + reserved).toBeGreaterThanOrEqual(5_000 - count);
    await plain.deleteKey({ keyId: first.keyId });
    mayGiveBack = true;
    await latchkey.close();
    const after = await plain.getIdentity({ externalId: "ferry" });
    expect(after).toMatchObject({ remaining: 5_000 - count });
    expect(after).not.toHaveProperty("reserved");
  });

  test("E2: units of an identity that were taken before its uses were set admit nobody after that resolved, with any of its keys", async () => {
    const { onEvent, leased } = counting();
    const context = open({ leases: { ms: LEASE_MS }, onEvent });
    const { latchkey } = context;
    await latchkey.createIdentity({ externalId: "pilot", remaining: 100_000 });
    const { key } = await issue(context, { externalId: "pilot", usesFrom: "identity" });
    await untilLeased(latchkey, key, leased);
    const plain = context.another({ leases: undefined });
    await plain.updateRemaining({ externalId: "pilot", op: "set", value: 2 });
    const codes: string[] = [];
    for (let time = 0; time < 4; time += 1) codes.push((await latchkey.verifyKey({ key })).code);
    expect(codes).toEqual(["VALID", "VALID", "USAGE_EXCEEDED", "USAGE_EXCEEDED"]);
    expect((await plain.getIdentity({ externalId: "pilot" })).remaining).toBe(0);
  });

  test.each(["with a requestId", "that reserves", "with a limit of its own"])(
    "E5: a verification %s is not refused because its own process has leased units",
    async (which) => {
      const { onEvent, leased } = counting();
      const context = open({ usage: false, leases: { ms: LONG_MS, share: 0.5 }, onEvent });
      const { latchkey } = context;
      await latchkey.createIdentity({ externalId: "quay", remaining: 1_900 });
      const shared = { externalId: "quay", usesFrom: "identity" } as const;
      const { key, apiId } = await issue(context, shared);
      const { key: other } = await latchkey.createKey({ apiId, ...shared });
      let left = 1_900 - (await untilLeased(latchkey, key, leased));
      const take = async (cost: number) => {
        const asked = { key, remaining: { cost } };
        const fields =
          which === "with a requestId"
            ? { requestId: `order ${left}` }
            : { ratelimits: [{ name: "boats", limit: 9, duration: 3_600_000 }] };
        const verdict =
          which === "that reserves"
            ? await latchkey.reserve(asked)
            : await latchkey.verifyKey({ ...asked, ...fields });
        left -= cost;
        return verdict.code;
      };
      expect(await take(left - 900)).toBe("VALID");
      // The same with leases of two keys.
      for (const each of [key, other]) left -= await untilLeased(latchkey, each, leased);
      expect(await take(left)).toBe("VALID");
      expect((await latchkey.verifyKey({ key: other })).code).toBe("USAGE_EXCEEDED");
    },
  );

  test("E4: beside as many reservations of an identity as may be, nothing is taken ahead, and nobody is refused", async () => {
    const { onEvent, leased } = counting();
    const context = open({ usage: false, leases: { ms: LONG_MS, share: 0.5 }, onEvent });
    const { latchkey, store } = context;
    const { identityId } = await latchkey.createIdentity({ externalId: "crowd", remaining: 9_000 });
    const { key } = await issue(context, { externalId: "crowd", usesFrom: "identity" });
    const nothing = { uses: 0, next: 1_000, setBefore: 0, raises: [], drops: [] };
    const sums = { nextEnd: Number.MAX_SAFE_INTEGER, open: 1_000, ...nothing };
    const of = { kind: "identity", id: identityId } as const;
    const step = { kind: "restore", of, sums, holds: [] } as const;
    await store.settle("ws_default", step, { now: context.now(), revision: null });
    let valid = 0;
    for (let time = 0; time < 5; time += 1) valid += await verifyInUse(latchkey, key);
    expect([valid, leased()]).toEqual([20, 0]);
    expect((await latchkey.getIdentity({ externalId: "crowd" })).remaining).toBe(8_980);
  });

  test("E4: a process that dies loses at most its share, which is shown as reserved; near the end nothing is taken ahead", async () => {
    const context = open({ usage: false, leases: { ms: LEASE_MS } });
    const { store, latchkey } = context;
    const { key, keyId } = await issue(context, { remaining: 1_000 });
    const dying = context.another({
      store: wrapped(store, { settle: () => new Promise(() => undefined) }),
    });
    let admitted = 0;
    while ((await heldOf(context, keyId)) === 0) admitted += await verifyInUse(dying, key);
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
