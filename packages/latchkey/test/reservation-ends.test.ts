import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { refusalOf, reserve, uses } from "./reserving.js";
import { DAY_MS, HOUR_MS, issue, NOON, rejectionOf } from "./test-context.js";

const MINUTE_MS = 60_000;

describeOnEveryStore("ends of reservations", (open) => {
  test("H4: a repetition gets the same answer for at least ten minutes, from every process", async () => {
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
    // The error of a renewal has no figures.
    const renewal = await rejectionOf(other.renew({ reservationId }));
    expect(renewal).toMatchObject({ message: "this reservation has ended" });
    for (const each of [`${reservationId}.s`, "rsv_x", ` 1`, "rsv_a b", " =", `${reservationId}\n`])
      expect((await refusalOf(other.settle({ reservationId: each })))[0]).toBe("NOT_FOUND");
    const elsewhere = latchkey.workspace("ws_other");
    expect((await refusalOf(elsewhere.release({ reservationId })))[0]).toBe("NOT_FOUND");
  });

  test("an end returns the uses left, even for a reservation of nothing, and for slots", async () => {
    const context = open();
    const { latchkey } = context;
    const parallel = {
      name: "parallel",
      limit: 2,
      duration: "2m",
      algorithm: "concurrent",
    } as const;
    const ratelimits = [{ ...parallel, autoApply: true }];
    const refill = { interval: "daily", amount: 9 } as const;
    await latchkey.createIdentity({ externalId: "pier-3", remaining: 9, refill });
    for (const figures of [
      { remaining: 9, refill },
      { externalId: "pier-3", usesFrom: "identity" as const },
    ]) {
      const { key } = await issue(context, { ...figures, ratelimits });
      const nothing = await reserve(latchkey, { key, ...uses(0) });
      const entered = await latchkey.verifyKey({ key, ...uses(3) });
      if (entered.code !== "VALID") throw new Error(entered.code);
      const slots = entered.reservationId ?? "";
      const told = { remaining: 6, taken: { uses: 0, ratelimits: [] } };
      const other = context.another();
      expect(await other.settle({ reservationId: nothing })).toEqual(told);
      expect(await latchkey.release({ reservationId: slots })).toEqual(told);
      await latchkey.verifyKey({ key });
      expect(await other.release({ reservationId: slots })).toEqual(told);
      expect(await latchkey.release({ reservationId: nothing })).toEqual(told);
      await latchkey.release({ reservationId: await reserve(latchkey, { key, ...uses(0) }) });
      const late = await reserve(latchkey, { key, ttl: "24h", ...uses(0) });
      context.advance(DAY_MS / 2);
      expect(await other.release({ reservationId: late })).toMatchObject({ remaining: 9 });
      context.advance(DAY_MS / 2);
    }
  });

  test("H4: a repeated reserve returns the same reservation, and holds nothing more", async () => {
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

  test("H5: settling more than is reserved, or something else, is refused without an effect", async () => {
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

  test("H6: work in progress can be settled, whatever happened to its key meanwhile", async () => {
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

  test("H2: setting uses to their current number while some are held counts as setting: nothing is returned", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { identityId } = await latchkey.createIdentity({ externalId: "pier-4", remaining: 9 });
    for (const set of [
      (keyId: string) => latchkey.updateRemaining({ keyId, op: "set", value: 5 }),
      (keyId: string) => latchkey.updateKey({ keyId, remaining: 5 }),
    ]) {
      const { key, keyId } = await latchkey.createKey({ apiId, remaining: 9 });
      const reservationId = await reserve(latchkey, { key, ...uses(4) });
      await set(keyId);
      await latchkey.release({ reservationId });
      expect((await latchkey.getKey({ keyId })).remaining).toBe(5);
    }
    for (const set of [
      () => latchkey.updateRemaining({ identityId, op: "set", value: 5 }),
      () => latchkey.updateIdentity({ identityId, remaining: 5 }),
    ]) {
      await latchkey.updateIdentity({ identityId, remaining: 9 });
      const { key } = await latchkey.createKey({
        apiId,
        externalId: "pier-4",
        usesFrom: "identity",
      });
      const reservationId = await reserve(latchkey, { key, ...uses(4) });
      await set();
      await latchkey.release({ reservationId });
      expect((await latchkey.getIdentity({ identityId })).remaining).toBe(5);
    }
  });

  test("H6: reservations of a key are deleted with it, and held uses of its identity are returned", async () => {
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

  test("H6: nothing is returned to counters that it was not taken from: other uses, another identity, none", async () => {
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

  test("H6: reservations survive a rotation, and exist as long as any key of the chain", async () => {
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

  test("uses that were set, raised, lowered or refilled meanwhile are as documented", async () => {
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

  test("settle returns the actual uses left, even if refills were changed meanwhile", async () => {
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

  test("of two concurrent settles one takes effect, and an expiry during a settle returns units once", async () => {
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

  test("a key may have a thousand open reservations; beyond that, nothing is taken", async () => {
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
  });
});
