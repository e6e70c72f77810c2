import { expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { refusalOf, reserve, uses } from "./reserving.js";
import { DAY_MS, HOUR_MS, issue, NOON } from "./test-context.js";

const MINUTE_MS = 60_000;
const MIDNIGHT = NOON + 12 * HOUR_MS;

describeOnEveryStore("reservations", (open) => {
  test("H1: every granted use is left, held or taken, whatever two processes do", async () => {
    const context = open();
    const chance = chanceOf(20260310);
    const processes = [context.latchkey, context.another()] as const;
    const granted = 200;
    const { keyId, key } = await issue(context, { remaining: granted });
    const held = new Map<string, { readonly cost: number; readonly endsAt: number }>();
    let taken = 0;
    for (let step = 0; step < 60; step += 1) {
      const latchkey = chance.pick(processes);
      context.advance(chance.below(900));
      for (const [id, { endsAt }] of held) if (endsAt <= context.now()) held.delete(id);
      const cost = chance.below(12);
      const [reservationId, reserved] = chance.pick([...held, ["", null] as const]);
      const action = chance.below(4);
      if (action === 0) {
        const verdict = await latchkey.verifyKey({ key, ...uses(cost) });
        if (verdict.valid) taken += cost;
      } else if (action === 1 || reserved === null) {
        const ttl = 1_000 + chance.below(5_000);
        const verdict = await latchkey.reserve({ key, ttl, ...uses(cost) });
        if (verdict.code === "VALID")
          held.set(verdict.reservationId, { cost, endsAt: verdict.expiresAt });
      } else if (action === 2) {
        const used = chance.below(reserved.cost + 1);
        await latchkey.settle({ reservationId, ...uses(used) });
        held.delete(reservationId);
        taken += used;
      } else {
        const { expiresAt } = await latchkey.renew({ reservationId });
        held.set(reservationId, { ...reserved, endsAt: expiresAt });
      }
      const { remaining = -1, reserved: shown = 0 } = await chance
        .pick(processes)
        .getKey({ keyId });
      const open = [...held.values()].reduce((sum, each) => sum + each.cost, 0);
      expect([shown, remaining + shown + taken]).toEqual([open, granted]);
    }
  });

  test("H2: a settled reservation leaves everything as if its final cost had been charged", async () => {
    const context = open();
    const { latchkey } = context;
    const other = context.another();
    const ratelimits = [
      { name: "fixed", limit: 100, duration: HOUR_MS },
      { name: "sliding", limit: 100, duration: 5 * HOUR_MS, algorithm: "sliding" as const },
    ];
    const costs = (cost: number) => ratelimits.map(({ name }) => ({ name, cost }));
    const figures = { ratelimits, refill: { interval: "daily", amount: 100 } } as const;
    const looked = async (key: string) => {
      const verdict = await other.verifyKey({ key, ...uses(0), ratelimits: costs(0) });
      if (verdict.code !== "VALID") throw new Error(verdict.code);
      return [verdict.remaining, ...(verdict.ratelimits ?? []).map((limit) => limit.remaining)];
    };
    let days = 0;
    for (const [granted, left] of [
      [100, 100],
      [500, 490],
    ] as const)
      for (const pause of [0, HOUR_MS - 1, HOUR_MS, 5 * HOUR_MS, 12 * HOUR_MS, 3 * DAY_MS]) {
        days += 10;
        context.setClock(NOON + days * DAY_MS);
        const start = context.now();
        const held = await issue(context, { remaining: granted, ...figures });
        const asIf = await issue(context, { remaining: granted, ...figures });
        const reservationId = await reserve(latchkey, {
          ...{ key: held.key, ttl: "24h" },
          ...uses(50),
          ratelimits: costs(50),
        });
        await latchkey.verifyKey({ key: asIf.key, ...uses(10), ratelimits: costs(10) });
        for (let passed = 0; passed < pause; passed += DAY_MS / 2) {
          context.setClock(start + passed);
          await other.renew({ reservationId, ttl: "24h" });
          // Applies due refills to both keys.
          for (const { key } of [held, asIf]) await latchkey.verifyKey({ key, ...uses(0) });
        }
        context.setClock(start + pause);
        const { remaining, taken } = await other.settle({
          reservationId,
          ...uses(10),
          ratelimits: costs(10),
        });
        expect(taken).toEqual({ uses: 10, ratelimits: costs(10) });
        expect([remaining, ...(await looked(held.key)).slice(1)]).toEqual(await looked(asIf.key));
        if (pause === 12 * HOUR_MS) expect(remaining).toBe(left);
        for (const later of [1, 17 * MINUTE_MS, 40 * MINUTE_MS, 5 * HOUR_MS, DAY_MS]) {
          context.advance(later);
          expect(await looked(held.key)).toEqual(await looked(asIf.key));
        }
      }
  });

  test("H2: refills that are due while several reservations are open are accounted for by each return", async () => {
    const context = open();
    const { latchkey } = context;
    const refill = { interval: "daily", amount: 100 } as const;
    const { key, keyId } = await issue(context, { remaining: 150, refill });
    const first = await reserve(latchkey, { key, ttl: "24h", ...uses(60) });
    context.setClock(MIDNIGHT);
    expect(await latchkey.verifyKey({ key, ...uses(20) })).toMatchObject({ remaining: 80 });
    const second = await reserve(context.another(), { key, ttl: "24h", ...uses(30) });
    await latchkey.renew({ reservationId: first, ttl: "24h" });
    context.setClock(MIDNIGHT + DAY_MS - 1);
    await latchkey.renew({ reservationId: first });
    await latchkey.renew({ reservationId: second });
    context.advance(1);
    expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 100, reserved: 90 });
    expect(await latchkey.release({ reservationId: first })).toMatchObject({ remaining: 100 });
    expect(await latchkey.release({ reservationId: second })).toMatchObject({ remaining: 130 });
    expect((await latchkey.getKey({ keyId })).remaining).toBe(130);
  });

  test("H2: a bucket is never fuller than without the hold, nor emptier than the inflow allows", async () => {
    const context = open();
    const { latchkey } = context;
    const bucket = { name: "b", limit: 6, duration: MINUTE_MS, burst: 20 };
    const { key } = await issue(context, {
      ratelimits: [{ ...bucket, algorithm: "token-bucket", autoApply: true }],
    });
    const left = async () => {
      const verdict = await latchkey.verifyKey({ key, ratelimits: [{ name: "b", cost: 0 }] });
      return verdict.code === "VALID" ? verdict.ratelimits?.[0]?.remaining : verdict.code;
    };
    const take = (cost: number) => ({ key, ratelimits: [{ name: "b", cost }] });
    const reservationId = await reserve(latchkey, take(8));
    await latchkey.verifyKey(take(12));
    context.advance(30_000);
    await latchkey.settle({ reservationId, ratelimits: [{ name: "b", cost: 1 }] });
    // As if one unit had been charged, which leaves seven, plus three that flowed in.
    expect(await left()).toBe(10);
    context.advance(200_000);
    expect(await left()).toBe(20);
  });

  test("H3: an expired reservation is released once, from that ms on, so a dead process loses nothing", async () => {
    const context = open();
    const limit = { name: "tokens", limit: 9, duration: DAY_MS };
    const { key, keyId } = await issue(context, { remaining: 9, ratelimits: [limit] });
    const all = { key, ...uses(9), ratelimits: [{ name: "tokens", cost: 9 }] };
    const dead = await reserve(context.another(), { ...all, ttl: "10s" });
    context.advance(9_999);
    const other = context.another();
    expect(await other.verifyKey(all)).toMatchObject({ code: "RATE_LIMITED" });
    context.advance(1);
    const verdicts = await Promise.all([
      ...Array.from({ length: 6 }, () => other.verifyKey(all)),
      ...Array.from({ length: 6 }, () => context.latchkey.verifyKey(all)),
    ]);
    expect(verdicts.filter(({ valid }) => valid)).toHaveLength(1);
    expect(await other.getKey({ keyId })).not.toHaveProperty("reserved");
    for (const call of [
      () => other.settle({ reservationId: dead }),
      () => other.release({ reservationId: dead }),
      () => other.renew({ reservationId: dead }),
    ])
      expect(await refusalOf(call())).toEqual(["PRECONDITION_FAILED", "reservation-expired"]);
  });

  test("H3: a fast clock ends it earlier for all, and a clock that is set back revives nothing", async () => {
    const context = open();
    const ahead = context.another({ clock: () => context.now() + 10 * MINUTE_MS });
    const { key, keyId } = await issue(context, { remaining: 9 });
    const reservationId = await reserve(context.latchkey, { key, ...uses(4) });
    expect(await ahead.getKey({ keyId })).toMatchObject({ remaining: 9 });
    expect(await refusalOf(context.latchkey.settle({ reservationId }))).toEqual([
      "PRECONDITION_FAILED",
      "reservation-expired",
    ]);
    const next = await reserve(ahead, { key, ...uses(4) });
    context.setClock(NOON - DAY_MS);
    expect(await context.another().settle({ reservationId: next, ...uses(1) })).toMatchObject({
      remaining: 8,
    });
  });
});
