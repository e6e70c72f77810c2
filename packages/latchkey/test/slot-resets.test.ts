import { expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { issue } from "./test-context.js";

const MINUTE_MS = 60_000;

const PARALLEL = {
  ...{ name: "parallel", limit: 3, duration: 2 * MINUTE_MS },
  ...{ algorithm: "concurrent" as const, autoApply: true },
};

describeOnEveryStore("reset of a concurrent limit", (open) => {
  test("slots that nobody else holds are all free when they end, with the shortest of their limits or the reservation", async () => {
    const context = open();
    const { latchkey } = context;
    const short = { ...PARALLEL, name: "short", duration: MINUTE_MS, autoApply: false };
    const { key, keyId } = await issue(context, { ratelimits: [PARALLEL, short] });
    const both = { key, ratelimits: [{ name: "short" }] };
    const takings = [
      () => latchkey.verifyKey({ ...both, dryRun: true }),
      () => latchkey.verifyKey({ ...both, requestId: "request-1" }),
      () => latchkey.reserve({ key, ttl: "30s", requestId: "request-2" }),
      () => latchkey.reserve({ ...both, ttl: "10m", requestId: "request-3" }),
    ];
    const lasting = [MINUTE_MS, MINUTE_MS, 30_000, MINUTE_MS];
    for (const [index, take] of takings.entries()) {
      const endsAt = context.now() + (lasting[index] as number);
      const verdict = await take();
      const resets = verdict.code === "VALID" ? verdict.ratelimits?.map(({ reset }) => reset) : [];
      expect(new Set(resets)).toEqual(new Set([endsAt]));
      context.advance(1_000);
      if (index > 0) expect(await take()).toEqual(verdict);
      context.advance(endsAt - context.now() - 1);
      const left = async () => {
        const found = await latchkey.explainKey({ keyId });
        return found.code === "VALID" ? found.ratelimit?.remaining : found.code;
      };
      expect(await left()).toBe(index > 0 ? PARALLEL.limit - 2 : PARALLEL.limit - 1);
      context.advance(1);
      expect(await left()).toBe(PARALLEL.limit - 1);
    }
  });

  test("a look at a cost of 0 says when the last slot ends, whoever holds it", async () => {
    const context = open();
    const chance = chanceOf(20260312);
    const processes = [context.latchkey, context.another()] as const;
    const { key, keyId } = await issue(context, { ratelimits: [PARALLEL] });
    const look = { key, ratelimits: [{ name: "parallel", cost: 0 }] };
    const ends = new Map<string, number>();
    for (let step = 0; step < 24; step += 1) {
      context.advance(chance.below(30_000));
      const now = context.now();
      const latchkey = chance.pick(processes);
      const reservationId = chance.pick([...ends.keys(), "none"]);
      if ((ends.get(reservationId) ?? 0) > now) {
        await latchkey.release({ reservationId });
        ends.delete(reservationId);
      } else {
        const verdict = await latchkey.reserve({ key, ttl: chance.pick(["10s", "1m", "10m"]) });
        const span = verdict.code === "VALID" ? verdict.expiresAt - now : 0;
        if (verdict.code === "VALID")
          ends.set(verdict.reservationId, now + Math.min(span, PARALLEL.duration));
      }
      const reset = Math.max(now, ...ends.values());
      const asked = chance.pick(processes);
      expect(await asked.verifyKey(look)).toMatchObject({ ratelimit: { reset } });
      expect(await asked.verifyKey({ ...look, dryRun: true })).toMatchObject({
        ratelimit: { reset },
      });
      const { ratelimits } = look;
      expect(await asked.explainKey({ keyId, ratelimits })).toMatchObject({ ratelimit: { reset } });
    }
  });

  test("a repeated look returns the same as the first, whatever ended in between", async () => {
    const context = open();
    const { key } = await issue(context, { ratelimits: [PARALLEL] });
    const held = await context.latchkey.reserve({ key });
    context.advance(1_000);
    const look = { key, ratelimits: [{ name: "parallel", cost: 0 }], requestId: "request-1" };
    const first = await context.latchkey.verifyKey(look);
    expect(first.code).toBe("VALID");
    if (held.code === "VALID")
      await context.latchkey.release({ reservationId: held.reservationId });
    await context.latchkey.reserve({ key });
    expect(await context.another().verifyKey(look)).toEqual(first);
  });
});
