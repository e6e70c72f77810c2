import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { reserve, uses } from "./reserving.js";
import { issue } from "./test-context.js";

describeOnEveryStore("what reservations return", (open) => {
  test("H3: an end that is the first call after other expiries includes their returns in the uses left", async () => {
    const expired: string[] = [];
    const context = open({
      onEvent: (event) => {
        if (event.type === "reservation.expired") expired.push(event.reservationId);
      },
    });
    const { latchkey } = context;
    const refill = { interval: "daily", amount: 50 } as const;
    for (const isOfIdentity of [false, true])
      for (const end of ["settle", "release"] as const) {
        const externalId = `pier-${end}`;
        if (isOfIdentity) await latchkey.createIdentity({ externalId, remaining: 50, refill });
        const fields = isOfIdentity
          ? ({ externalId, usesFrom: "identity" } as const)
          : { remaining: 50, refill };
        const { key, keyId } = await issue(context, fields);
        const reservationId = await reserve(latchkey, { key, ttl: "9s", ...uses(5) });
        // The counters survive with another key.
        const { key: next } = await latchkey.rotateKey({ keyId });
        await latchkey.deleteKey({ keyId });
        const other = isOfIdentity ? (await issue(context, fields)).key : next;
        const over = [
          await reserve(latchkey, { key: next, ttl: "1s", ...uses(2) }),
          await reserve(latchkey, { key: other, ttl: "2s", ...uses(3) }),
        ];
        const used = end === "settle" ? { reservationId, ...uses(1) } : { reservationId };
        context.advance(2_000);
        const told = await context.another()[end](used);
        expect(told.remaining).toBe(end === "settle" ? 49 : 50);
        expect(await latchkey[end](used)).toEqual(told);
        expect(expired.splice(0)).toEqual(over);
      }
    // All have expired, even if they take more than one step.
    const { key } = await issue(context, { remaining: 500 });
    const over: string[] = [];
    for (let count = 0; count < 101; count += 1)
      over.push(await reserve(latchkey, { key, ttl: "1s", ...uses(3) }));
    const reservationId = await reserve(latchkey, { key, ttl: "9s", ...uses(5) });
    context.advance(1_000);
    expect((await latchkey.settle({ reservationId, ...uses(4) })).remaining).toBe(496);
    expect(expired.sort()).toEqual(over.sort());
  });

  test("T2, H2: a bucket whose limit changes while a reservation is open is never too full, and loses nothing", async () => {
    const context = open();
    const { latchkey } = context;
    const bucket = (limit: number) => ({
      ratelimits: [
        { name: "calls", limit, duration: "1m", algorithm: "token-bucket", burst: 10 } as const,
      ],
    });
    const ask = (cost: number) => ({ ratelimits: [{ name: "calls", cost }] });
    for (const [before, after, back] of [
      [1, 1_000, 0],
      [1_000, 1, 9],
    ] as const) {
      const { key, keyId } = await issue(context, bucket(before));
      const reservationId = await reserve(latchkey, { key, ...ask(10) });
      await latchkey.updateKey({ keyId, ...bucket(after) });
      context.advance(1_000);
      // At 1,000 a minute, the bucket is full again. At one a minute, only a sixtieth of a unit has flowed in.
      const verdict = await context.another().verifyKey({ key, ...ask(10 - back || 1) });
      expect(verdict.code).toBe(back === 0 ? "VALID" : "RATE_LIMITED");
      await latchkey.release({ reservationId });
      const admitted = [];
      for (let call = 0; call < 11; call += 1)
        admitted.push((await latchkey.verifyKey({ key, ...ask(1) })).code);
      expect(admitted.filter((code) => code === "VALID").length).toBe(back === 0 ? 0 : 10);
    }
  });
});
