import type { InputOf, Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, issue, NOON } from "./test-context.js";

const MINUTE_MS = 60_000;
const LAST_INSTANT = 8_640_000_000_000_000;

const PARALLEL = {
  ...{ name: "parallel", limit: 3, duration: 2 * MINUTE_MS },
  ...{ algorithm: "concurrent" as const, autoApply: true },
};

/** Verifies, and returns the reservation id of the taken slots. */
async function enter(latchkey: Latchkey, input: InputOf<"verifyKey">): Promise<string> {
  const verdict = await latchkey.verifyKey(input);
  expect(verdict.code).toBe("VALID");
  return (verdict.code === "VALID" && verdict.reservationId) || "none";
}

describeOnEveryStore("slots", (open) => {
  test("C1: never more are held than the limit, whatever takes, frees and renews them", async () => {
    const context = open();
    const chance = chanceOf(20260311);
    const processes = [context.latchkey, context.another()] as const;
    const { key, keyId } = await issue(context, { ratelimits: [PARALLEL] });
    const held = new Map<string, number>();
    for (let step = 0; step < 60; step += 1) {
      context.advance(chance.below(40_000));
      const now = context.now();
      for (const [id, endsAt] of held) if (endsAt <= now) held.delete(id);
      const [latchkey, [reservationId]] = [
        chance.pick(processes),
        chance.pick([...held, ["none", 0] as const]),
      ];
      const action = chance.below(3);
      if (action === 0 && reservationId !== "none") {
        await latchkey.release({ reservationId });
        held.delete(reservationId);
      } else if (action === 1 && reservationId !== "none") {
        held.set(reservationId, (await latchkey.renew({ reservationId })).expiresAt);
      } else {
        const isFree = held.size < PARALLEL.limit;
        const isReserved = chance.below(2) === 0;
        const verdict = isReserved
          ? await latchkey.reserve({ key, ttl: 30_000 })
          : await latchkey.verifyKey({ key });
        expect(verdict.code).toBe(isFree ? "VALID" : "RATE_LIMITED");
        if (verdict.code === "VALID") held.set(verdict.reservationId ?? "", verdict.expiresAt ?? 0);
        // R1: a refused request is admitted once enough slots have ended, and not a ms before.
        if (verdict.code === "RATE_LIMITED")
          expect(verdict.retryAfterMs).toBe(Math.min(...held.values()) - now);
      }
      const { reservations } = await chance.pick(processes).listReservations({ keyId });
      expect(reservations.map((each) => each.reservationId).sort()).toEqual(
        [...held.keys()].sort(),
      );
    }
  });

  test("R1: slots of an identity become free when they end, not when those of a key's limit of the same name do", async () => {
    const context = open();
    const one = { ...PARALLEL, limit: 1 };
    const [externalId, ratelimits] = ["acme", [one]];
    await context.latchkey.createIdentity({ externalId, ratelimits });
    const keyOf = async (fields: object) => ({ key: (await issue(context, fields)).key });
    const own = await keyOf({ externalId, ratelimits });
    const [first, second] = [await keyOf({ externalId }), await keyOf({ externalId })];
    await enter(context.latchkey, own);
    context.advance(30_000);
    await enter(context.latchkey, first);
    context.advance(30_000);
    const wait = one.duration - 30_000;
    expect(await context.another().verifyKey(second)).toMatchObject({
      ...{ code: "RATE_LIMITED", retryAfterMs: wait },
      ratelimit: { reset: context.now() + wait },
    });
    context.advance(wait - 1);
    expect(await context.latchkey.verifyKey(second)).toMatchObject({ retryAfterMs: 1 });
    context.advance(1);
    await enter(context.latchkey, second);
  });

  test("R1: waits ignore slots held before a limit was reset, removed or lowered, and include all others", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context, { ratelimits: [PARALLEL] });
    const isTold = async (retryAfterMs: number) =>
      expect(await context.another().verifyKey({ key })).toMatchObject({
        ...{ code: "RATE_LIMITED", retryAfterMs },
      });
    await enter(latchkey, { key });
    context.advance(10_000);
    await latchkey.updateKey({ keyId, ratelimits: [] });
    await latchkey.updateKey({ keyId, ratelimits: [PARALLEL] });
    await enter(latchkey, { key });
    context.advance(10_000);
    await latchkey.resetLimit({ keyId, name: "parallel" });
    for (let slot = 0; slot < PARALLEL.limit; slot += 1) {
      await enter(latchkey, { key });
      context.advance(10_000);
    }
    await isTold(PARALLEL.duration - 30_000);
    await latchkey.updateKey({ keyId, ratelimits: [{ ...PARALLEL, limit: 1 }] });
    const wait = PARALLEL.duration - 10_000;
    await isTold(wait);
    context.advance(wait - 1);
    await isTold(1);
    context.advance(1);
    await enter(latchkey, { key });
  });

  test("C2, C3: a slot is free once release has resolved, and from its expiry on", async () => {
    const context = open();
    const other = context.another();
    const one = { ...PARALLEL, limit: 1 };
    const { key } = await issue(context, { ratelimits: [one] });
    for (let round = 0; round < 10; round += 1) {
      const [first, second] = round % 2 ? [other, context.latchkey] : [context.latchkey, other];
      const reservationId = await enter(first, { key });
      expect(await second.verifyKey({ key })).toMatchObject({ retryAfterMs: one.duration });
      await first.release({ reservationId });
      await second.settle({ reservationId: await enter(second, { key }) });
    }
    await enter(context.another(), { key });
    context.advance(one.duration - 1);
    expect(await other.verifyKey({ key })).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 1 });
    context.advance(1);
    await enter(other, { key });
  });

  test("C3: slots that end in the same ms as their reservation are returned once", async () => {
    const context = open();
    const { key } = await issue(context, { ratelimits: [PARALLEL] });
    for (let round = 0; round < 2; round += 1) await context.latchkey.reserve({ key, ttl: "10s" });
    context.advance(1);
    await enter(context.latchkey, { key });
    context.advance(9_999);
    const other = context.another();
    await enter(other, { key });
    await enter(other, { key });
    expect(await other.verifyKey({ key })).toMatchObject({ code: "RATE_LIMITED" });
  });

  test("C4: a request refused by this limit or another takes no slot, and holds nothing", async () => {
    const context = open();
    const { latchkey } = context;
    const tokens = { name: "tokens", limit: 5, duration: DAY_MS };
    const { key, keyId } = await issue(context, { remaining: 5, ratelimits: [PARALLEL, tokens] });
    const limits = (cost: number) => [{ name: "tokens", cost }];
    for (const ask of [latchkey.verifyKey, latchkey.reserve])
      for (const input of [
        { key, ratelimits: limits(6) },
        { key, remaining: { cost: 6 } },
        { key, ratelimits: [{ name: "parallel", cost: 4 }] },
      ])
        expect((await ask(input)).valid).toBe(false);
    expect(await latchkey.listReservations({ keyId })).toEqual({ reservations: [] });
    expect(
      await latchkey.verifyKey({ key, ratelimits: [{ name: "parallel", cost: 3 }] }),
    ).toMatchObject({
      code: "VALID",
      remaining: 4,
      ratelimits: [{ name: "parallel", remaining: 0 }],
    });
  });

  test("verifyKey takes uses and units permanently, and reserve holds them for longer than its slots", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context, { remaining: 9, ratelimits: [PARALLEL] });
    const taken = await enter(latchkey, { key, remaining: { cost: 2 } });
    await latchkey.release({ reservationId: taken });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 7 });
    const verdict = await latchkey.reserve({ key, ttl: "5m", remaining: { cost: 3 } });
    if (verdict.code !== "VALID") throw new Error(verdict.code);
    const { reservationId, expiresAt } = verdict;
    expect(expiresAt).toBe(context.now() + 5 * MINUTE_MS);
    context.advance(PARALLEL.duration);
    const look = { key, remaining: { cost: 0 }, ratelimits: [{ name: "parallel", cost: 0 }] };
    expect(await context.another().verifyKey(look)).toMatchObject({
      remaining: 4,
      ratelimits: [{ name: "parallel", remaining: 3 }],
    });
    await latchkey.renew({ reservationId });
    expect(await latchkey.settle({ reservationId, remaining: { cost: 1 } })).toEqual({
      remaining: 6,
      taken: { uses: 1, ratelimits: [] },
    });
  });

  test("slots of an identity are shared by its keys, and ad-hoc limits have slots, too", async () => {
    const context = open();
    const { latchkey } = context;
    await latchkey.createIdentity({
      externalId: "pier-3",
      ratelimits: [{ ...PARALLEL, limit: 2 }],
    });
    const keys = [
      await issue(context, { externalId: "pier-3" }),
      await issue(context, { externalId: "pier-3" }),
    ];
    const ids = await Promise.all(keys.map(({ key }) => enter(latchkey, { key })));
    for (const { key } of keys)
      expect(await context.another().verifyKey({ key })).toMatchObject({ code: "RATE_LIMITED" });
    await latchkey.deleteKey({ keyId: keys[0]?.keyId ?? "" });
    expect(await latchkey.verifyKey({ key: keys[1]?.key ?? "" })).toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs: PARALLEL.duration,
    });
    await latchkey.release({ reservationId: ids[1] ?? "" });
    const { key } = await issue(context);
    const { autoApply: _, ...madeUp } = { ...PARALLEL, name: "made up", limit: 1 };
    const reservationId = await enter(latchkey, { key, ratelimits: [madeUp] });
    expect(await latchkey.verifyKey({ key, ratelimits: [madeUp] })).toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs: PARALLEL.duration,
    });
    await context.another().release({ reservationId });
    await enter(latchkey, { key, ratelimits: [madeUp] });
  });

  test("resetting, removing or lowering a limit takes effect at once, and no earlier slot is returned to it", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context, { ratelimits: [PARALLEL] });
    const old = [await enter(latchkey, { key }), await enter(latchkey, { key })];
    await latchkey.resetLimit({ keyId, name: "parallel" });
    const next = await Promise.all([1, 2, 3].map(() => enter(latchkey, { key })));
    for (const reservationId of old) await latchkey.release({ reservationId });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "RATE_LIMITED" });
    await latchkey.updateKey({ keyId, ratelimits: [{ ...PARALLEL, limit: 2 }] });
    await latchkey.release({ reservationId: next[0] ?? "" });
    expect(await context.another().verifyKey({ key })).toMatchObject({ code: "RATE_LIMITED" });
    await latchkey.release({ reservationId: next[1] ?? "" });
    await enter(context.another(), { key });
  });

  test("a dry run and explainKey take no slot, and return what would happen", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context, { ratelimits: [{ ...PARALLEL, limit: 1 }] });
    const dry = await latchkey.verifyKey({ key, dryRun: true });
    expect(dry).toMatchObject({ code: "VALID" });
    expect(dry).not.toHaveProperty("reservationId");
    await latchkey.explainKey({ keyId });
    const reservationId = await enter(latchkey, { key });
    expect(await latchkey.verifyKey({ key, dryRun: true })).toMatchObject({ code: "RATE_LIMITED" });
    const told = JSON.stringify(await latchkey.explainKey({ keyId }));
    expect(told).toContain("RATE_LIMITED");
    await latchkey.release({ reservationId });
    expect(await latchkey.verifyKey({ key, dryRun: true })).toMatchObject({ code: "VALID" });
  });

  test("at the end of time slots and reservations end with it, and not after", async () => {
    const context = open();
    const { latchkey } = context;
    context.setClock(LAST_INSTANT - 1_000);
    const { key, keyId } = await issue(context, {
      remaining: 9,
      ratelimits: [{ ...PARALLEL, duration: 2 ** 52 }],
    });
    const verdict = await latchkey.reserve({ key, ttl: "24h", remaining: { cost: 4 } });
    expect(verdict).toMatchObject({ code: "VALID", expiresAt: LAST_INSTANT });
    expect(await latchkey.listReservations({ keyId })).toMatchObject({
      reservations: [{ expiresAt: LAST_INSTANT, uses: 4 }],
    });
    if (verdict.code !== "VALID") throw new Error(verdict.code);
    const { reservationId } = verdict;
    expect(await latchkey.renew({ reservationId, ttl: "24h" })).toEqual({
      expiresAt: LAST_INSTANT,
    });
    context.setClock(LAST_INSTANT);
    expect(await context.another().getKey({ keyId })).toMatchObject({ remaining: 9 });
  });

  test("a reservation of nothing is a real one: it can be listed, renewed and settled", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context);
    const verdict = await latchkey.reserve({ key, remaining: { cost: 0 } });
    if (verdict.code !== "VALID") throw new Error(verdict.code);
    const { reservationId } = verdict;
    expect((await latchkey.listReservations({ keyId })).reservations).toMatchObject([
      { reservationId, uses: 0, ratelimits: [] },
    ]);
    const settled = { remaining: null, taken: { uses: 0, ratelimits: [] } };
    expect(await latchkey.settle({ reservationId, remaining: { cost: 0 } })).toEqual(settled);
    expect(await context.another().release({ reservationId })).toEqual(settled);
    expect(context.now()).toBe(NOON);
  });

  test("nothing is reserved of a full shadow limit, and settling accepts any number of its units", async () => {
    const context = open();
    const { latchkey } = context;
    const trial = { name: "trial", limit: 10, duration: DAY_MS, shadow: true };
    const { key, keyId } = await issue(context, { ratelimits: [trial] });
    const input = { key, ratelimits: [{ name: "trial", cost: 7 }] };
    const ids: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const verdict = await latchkey.reserve(input);
      if (verdict.code !== "VALID") throw new Error(verdict.code);
      ids.push(verdict.reservationId);
    }
    const { reservations } = await latchkey.listReservations({ keyId });
    expect(reservations.map(({ ratelimits }) => ratelimits)).toEqual([
      [{ name: "trial", cost: 7 }],
      [{ name: "trial", cost: 0 }],
    ]);
    const other = context.another();
    for (const [index, cost] of [5, 0].entries())
      expect(
        await other.settle({
          reservationId: ids[index] ?? "",
          ratelimits: [{ name: "trial", cost: 5 }],
        }),
      ).toMatchObject({ taken: { ratelimits: [{ name: "trial", cost }] } });
    const look = await other.verifyKey({ key, ratelimits: [{ name: "trial", cost: 0 }] });
    expect(look).toMatchObject({ ratelimits: [{ remaining: 5 }] });
  });

  test("the repetition of a refused request gets the same answer, whatever the limits are by then", async () => {
    const context = open();
    const { latchkey } = context;
    const SINGLE = { ...PARALLEL, limit: 1 };
    const { key, keyId } = await issue(context, { ratelimits: [SINGLE] });
    await enter(latchkey, { key });
    const ask = () => latchkey.verifyKey({ key, requestId: "a" });
    const refused = await ask();
    expect(refused).toMatchObject({
      code: "RATE_LIMITED",
      ratelimits: [{ name: "parallel", exceeded: true }],
    });
    const others = [1, 2].map((number) => ({
      ...{ name: `other-${number}`, limit: 9, duration: MINUTE_MS, autoApply: true },
    }));
    for (const ratelimits of [[SINGLE, ...others], [...others, SINGLE], others, []]) {
      await latchkey.updateKey({ keyId, ratelimits });
      const told = await ask();
      expect(told.code).toBe("RATE_LIMITED");
      expect(told).toMatchObject({ ratelimits: [{ name: "parallel", exceeded: true }] });
    }
  });
});
