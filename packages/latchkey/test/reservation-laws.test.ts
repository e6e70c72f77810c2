import type { InputOf, Latchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, HOUR_MS, issue, NOON, rejectionOf } from "./test-context.js";

const MINUTE_MS = 60_000;
const MIDNIGHT = NOON + 12 * HOUR_MS;

/** Makes a reservation, and answers its id. */
async function reserve(latchkey: Latchkey, input: InputOf<"reserve">): Promise<string> {
  const verdict = await latchkey.reserve(input);
  expect(verdict.code).toBe("VALID");
  return verdict.code === "VALID" ? verdict.reservationId : "";
}

/** How a call was refused. */
async function refusalOf(call: Promise<unknown>) {
  const { code, reason, details } = (await rejectionOf(call)) as LatchkeyError;
  return Object.keys(details).length === 0 ? [code, reason] : [code, reason, details];
}

const uses = (cost: number) => ({ remaining: { cost } });

describeOnEveryStore("reservations", (open) => {
  test("H1: what is granted is left, held or taken, whatever two processes do", async () => {
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

  test("H2: a settled reservation leaves all as if it had been charged with what it came to", async () => {
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
          // Both meet the refills that fall due meanwhile.
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

  test("H2: refills that fall due while several are open are paid for by each that comes back", async () => {
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

  test("H2: a bucket is never fuller than if nothing had been held, nor emptier than what flowed in leaves", async () => {
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
    // Seven were not needed, and three flowed in.
    expect(await left()).toBe(7);
    context.advance(200_000);
    expect(await left()).toBe(20);
  });

  test("H3: what is not ended in time is released from that ms on, once, and whoever dies loses nothing", async () => {
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

  test("H3: by a clock that is ahead it is over earlier, for all, and one that is set back revives nothing", async () => {
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

  test("H4: a repeat is answered alike for ten minutes at least, by every process", async () => {
    const context = open();
    const { latchkey } = context;
    const { key } = await issue(context, { remaining: 9 });
    const reservationId = await reserve(latchkey, { key, ...uses(4) });
    const settled = await latchkey.settle({ reservationId, ...uses(1) });
    expect(settled).toEqual({ remaining: 8, taken: { uses: 1, ratelimits: [] } });
    await latchkey.verifyKey({ key, ...uses(5) });
    context.advance(10 * MINUTE_MS);
    const other = context.another();
    expect(await other.settle({ reservationId, ...uses(1) })).toEqual(settled);
    for (const call of [
      () => other.settle({ reservationId }),
      () => other.settle({ reservationId, ...uses(2) }),
      () => other.release({ reservationId }),
      () => other.renew({ reservationId }),
    ])
      expect(await refusalOf(call())).toEqual(["CONFLICT", "reservation-ended"]);
    for (const each of [`${reservationId}.s`, "rsv_x", ` 1`, "rsv_a b", " =", `${reservationId}\n`])
      expect((await refusalOf(other.settle({ reservationId: each })))[0]).toBe("NOT_FOUND");
    const elsewhere = latchkey.workspace("ws_other");
    expect((await refusalOf(elsewhere.release({ reservationId })))[0]).toBe("NOT_FOUND");
  });

  test("H4: a repeated reserve is answered with the same reservation, and holds nothing again", async () => {
    const context = open();
    const { latchkey } = context;
    const other = context.another();
    const { key, keyId } = await issue(context, { remaining: 9 });
    const input = { key, ...uses(2), requestId: "once" };
    const verdicts = await Promise.all(
      Array.from({ length: 8 }, (_, at) => (at % 2 ? latchkey : other).reserve(input)),
    );
    const ids = verdicts.map((each) => (each.code === "VALID" ? each.reservationId : each.code));
    expect(new Set(ids).size).toBe(1);
    expect(await other.getKey({ keyId })).toMatchObject({ remaining: 7, reserved: 2 });
    for (const call of [
      () => other.reserve({ ...input, ttl: "6m" }),
      () => other.verifyKey(input),
      () => other.reserve({ ...input, ...uses(3) }),
    ])
      expect((await refusalOf(call()))[0]).toBe("CONFLICT");
    await latchkey.verifyKey({ ...input, requestId: "verified" });
    expect((await refusalOf(other.reserve({ ...input, requestId: "verified" })))[0]).toBe(
      "CONFLICT",
    );
    await latchkey.release({ reservationId: ids[0] ?? "" });
    expect(await other.reserve(input)).toMatchObject({ reservationId: ids[0] });
    expect((await other.getKey({ keyId })).remaining).toBe(7);
  });

  test("H5: more than is reserved, or of what is not, is refused, and nothing happens", async () => {
    const context = open();
    const { latchkey } = context;
    const limit = (name: string) => ({ name, limit: 9, duration: DAY_MS });
    const { key } = await issue(context, { remaining: 9, ratelimits: ["a:/b", "c"].map(limit) });
    const reserved = { uses: 4, ratelimits: [{ name: "a:/b", cost: 3 }] };
    const reservationId = await reserve(latchkey, {
      ...{ key, ...uses(4) },
      ratelimits: [...reserved.ratelimits, { name: "c", cost: 0 }],
    });
    const over = ["PRECONDITION_FAILED", "over-reservation", { reserved }];
    for (const call of [
      () => latchkey.settle({ reservationId, ...uses(5) }),
      () => latchkey.settle({ reservationId, ratelimits: [{ name: "a:/b", cost: 4 }] }),
    ])
      expect(await refusalOf(call())).toEqual(over);
    for (const name of ["c", "d", "default"])
      expect(
        (await refusalOf(latchkey.settle({ reservationId, ratelimits: [{ name, cost: 0 }] })))[0],
      ).toBe("BAD_REQUEST");
    const settled = await latchkey.settle({
      reservationId,
      ...uses(4),
      ratelimits: [{ name: "a:/b", cost: 0 }],
    });
    expect(settled.taken).toEqual({ uses: 4, ratelimits: [{ name: "a:/b", cost: 0 }] });
  });

  test("H6: work that was begun is settled, whatever became of its key meanwhile", async () => {
    const context = open();
    const { latchkey } = context;
    await latchkey.createPermission({ name: "work" });
    for (const change of [
      { enabled: false },
      { expires: NOON + 6 },
      { permissions: [] },
      { remaining: null },
      { ratelimits: [] },
      { name: "another" },
    ]) {
      const fields = { remaining: 9, permissions: ["work"] };
      const { key, keyId } = await issue(context, fields);
      const reservationId = await reserve(latchkey, {
        key,
        ...uses(4),
        authorization: { permissions: "work" },
      });
      const other = context.another();
      await other.updateKey({ keyId, ...change });
      context.advance(5);
      await latchkey.renew({ reservationId });
      const { taken } = await latchkey.settle({ reservationId, ...uses(1) });
      expect(taken.uses).toBe(1);
      if (!("remaining" in change) && !("enabled" in change) && !("expires" in change))
        expect((await other.getKey({ keyId })).remaining).toBe(8);
    }
  });

  test("H6: reservations of a key are gone with it, and what it took from its identity comes back", async () => {
    const context = open();
    const { latchkey } = context;
    const externalId = "pier-9";
    const { identityId } = await latchkey.createIdentity({ externalId, remaining: 10 });
    const [one, two] = [
      await issue(context, { externalId, usesFrom: "identity" }),
      await issue(context, { externalId, usesFrom: "identity" }),
    ];
    const reservationId = await reserve(latchkey, { key: one.key, ...uses(6) });
    await latchkey.deleteKey({ keyId: one.keyId });
    const other = context.another();
    expect((await refusalOf(other.settle({ reservationId })))[0]).toBe("NOT_FOUND");
    expect(await other.getIdentity({ identityId })).toMatchObject({ remaining: 4, reserved: 6 });
    context.advance(5 * MINUTE_MS);
    expect(await other.verifyKey({ key: two.key })).toMatchObject({ remaining: 9 });
    expect((await refusalOf(other.renew({ reservationId })))[0]).toBe("NOT_FOUND");
    expect(await other.getIdentity({ identityId })).not.toHaveProperty("reserved");
  });

  test("H6: nothing goes to counters that it did not come from: other uses, another identity, none", async () => {
    const context = open();
    const { latchkey } = context;
    const ratelimits = [{ name: "r", limit: 9, duration: DAY_MS, autoApply: true }];
    for (const externalId of ["quay-1", "quay-2"])
      await latchkey.createIdentity({ externalId, remaining: 20, ratelimits });
    const { key, keyId } = await issue(context, { externalId: "quay-1", remaining: 10 });
    const own = await reserve(latchkey, { key, ...uses(4) });
    await latchkey.updateKey({ keyId, usesFrom: "identity" });
    const shared = await reserve(latchkey, { key, ...uses(5) });
    await latchkey.updateKey({ keyId, externalId: "quay-2" });
    const moved = await reserve(latchkey, { key, ...uses(6) });
    const other = context.another();
    const left = async (externalId: string) => (await other.getIdentity({ externalId })).remaining;
    expect([await left("quay-1"), await left("quay-2")]).toEqual([15, 14]);
    await other.release({ reservationId: own });
    expect([await left("quay-1"), await left("quay-2")]).toEqual([15, 14]);
    await other.release({ reservationId: shared });
    expect([await left("quay-1"), await left("quay-2")]).toEqual([20, 14]);
    const { id: identityId } = await other.getIdentity({ externalId: "quay-2" });
    await other.deleteIdentity({ identityId });
    expect(await other.settle({ reservationId: moved, ...uses(1) })).toMatchObject({
      taken: { uses: 1 },
    });
    await latchkey.createIdentity({ externalId: "quay-2", remaining: 3 });
    context.advance(DAY_MS);
    expect(await left("quay-2")).toBe(3);
    await latchkey.updateKey({ keyId, usesFrom: "key", externalId: null });
    expect(await other.getKey({ keyId })).toMatchObject({ remaining: 10 });
  });

  test("H6: a rotation takes reservations along, and they live as long as any key of the chain", async () => {
    const context = open();
    const { latchkey } = context;
    const other = context.another();
    const { key, keyId } = await issue(context, { remaining: 10 });
    const first = await reserve(latchkey, { key, ...uses(4) });
    const rotated = await latchkey.rotateKey({ keyId, graceMs: HOUR_MS });
    const second = await reserve(other, { key: rotated.key, ...uses(3) });
    const { reservations } = await other.listReservations({ keyId: rotated.keyId });
    expect(reservations.map(({ reservationId }) => reservationId).sort()).toEqual(
      [first, second].sort(),
    );
    expect(await latchkey.settle({ reservationId: first, ...uses(1) })).toMatchObject({
      remaining: 6,
    });
    await latchkey.deleteKey({ keyId });
    expect(await other.release({ reservationId: second })).toMatchObject({ remaining: 9 });
  });

  test("uses that were set, raised, lowered or refilled meanwhile stand as was said", async () => {
    const context = open();
    const { latchkey } = context;
    const other = context.another();
    for (const [op, value, expected] of [
      ["set", 7, 7],
      ["set", null, null],
      ["increment", 5, 14],
      ["decrement", 5, 4],
    ] as const) {
      const { key, keyId } = await issue(context, { remaining: 10 });
      const reservationId = await reserve(latchkey, { key, ...uses(4) });
      await other.updateRemaining({ keyId, op, value });
      expect(await latchkey.settle({ reservationId, ...uses(1) })).toMatchObject({
        remaining: expected,
      });
    }
    const { key, keyId } = await issue(context, { remaining: Number.MAX_SAFE_INTEGER });
    const reservationId = await reserve(latchkey, { key, ...uses(4) });
    const raise = other.updateRemaining({ keyId, op: "increment", value: 1 });
    expect((await rejectionOf(raise)).code).toBe("BAD_REQUEST");
    await latchkey.release({ reservationId });
    expect((await other.getKey({ keyId })).remaining).toBe(Number.MAX_SAFE_INTEGER);
  });

  test("what settle says is left is what there is, also where refills were changed meanwhile", async () => {
    const context = open();
    const { latchkey } = context;
    const other = context.another();
    const daily = { interval: "daily", amount: 100 } as const;
    let days = 0;
    for (const [before, after] of [
      [daily, null],
      [daily, { interval: "daily", amount: 300 }],
      [undefined, daily],
    ] as const)
      for (const process of [latchkey, other]) {
        days += 10;
        context.setClock(NOON + days * DAY_MS);
        const { key, keyId } = await issue(context, {
          remaining: 90,
          ...(before && { refill: before }),
        });
        const reservationId = await reserve(latchkey, { key, ttl: "24h", ...uses(50) });
        context.advance(HOUR_MS);
        await process.updateKey({ keyId, refill: after });
        context.advance(DAY_MS / 2);
        const { remaining } = await latchkey.settle({ reservationId, ...uses(10) });
        expect(remaining).toBe((await other.getKey({ keyId })).remaining);
      }
  });

  test("of two that settle at once one is done, and an expiry beside a settle gives back once", async () => {
    const context = open();
    const { latchkey } = context;
    const other = context.another();
    const ahead = context.another({ clock: () => context.now() + HOUR_MS });
    const { key, keyId } = await issue(context, { remaining: 1_000 });
    let left = 1_000;
    for (let round = 0; round < 10; round += 1) {
      const reservationId = await reserve(latchkey, { key, ...uses(9) });
      const calls = [latchkey, other].map((each, index) =>
        each.settle({ reservationId, ...uses(index + 1) }),
      );
      const late = round % 2 === 0 ? [] : [ahead.verifyKey({ key, ...uses(0) })];
      const [one, two] = await Promise.allSettled([...calls, ...late]);
      const done = [one, two].filter((each) => each?.status === "fulfilled");
      expect(done.length).toBeLessThanOrEqual(1);
      if (one?.status === "fulfilled") left -= 1;
      if (two?.status === "fulfilled") left -= 2;
      expect(await other.getKey({ keyId })).toMatchObject({ remaining: left });
    }
  });

  test("a thousand of a key may be open, and no more: nothing is taken then", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context, { remaining: 2_000 });
    const ids: string[] = [];
    for (let batch = 0; batch < 20; batch += 1)
      ids.push(
        ...(await Promise.all(Array.from({ length: 50 }, () => reserve(latchkey, { key })))),
      );
    const other = context.another();
    expect(await refusalOf(other.reserve({ key }))).toEqual([
      "PRECONDITION_FAILED",
      "too-many-reservations",
      { limit: 1_000 },
    ]);
    expect(await other.getKey({ keyId })).toMatchObject({ remaining: 1_000, reserved: 1_000 });
    expect(await other.verifyKey({ key })).toMatchObject({ code: "VALID", remaining: 999 });
    await latchkey.release({ reservationId: ids[500] ?? "" });
    await reserve(other, { key });
    const listed: string[] = [];
    for await (const { reservationId } of other.reservations({ keyId })) listed.push(reservationId);
    expect([listed.length, new Set(listed).size]).toEqual([1_000, 1_000]);
    context.advance(5 * MINUTE_MS);
    expect(await other.verifyKey({ key })).toMatchObject({ code: "VALID", remaining: 1_998 });
  }, 120_000);
});
