import { expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { counting, untilLeased } from "./keys-in-use.js";
import { issue } from "./test-context.js";
import { unclosed } from "./wrapped-store.js";

/** Longer than a test takes. */
const LONG_MS = 10_000;

describeOnEveryStore("units of a bucket ahead", (open, runs) => {
  test("E1, E3, T2: no span admits more than the burst and the inflow, and nothing is lost", async () => {
    for (let run = 0; run < Math.max(1, runs(2)); run += 1) {
      const seed = 20_261_125 + run;
      const chance = chanceOf(seed);
      const { onEvent, leased } = counting();
      const context = open({ usage: false, leases: { ms: LONG_MS, share: 0.5 }, onEvent });
      const burst = 250 + chance.below(250);
      const limit = burst + chance.below(400);
      const duration = 1_000 + chance.below(2_000);
      const bucket = { limit, duration, burst, algorithm: "token-bucket" } as const;
      const { key } = await issue(context, { ratelimit: bucket });
      const make = () => context.another({ store: unclosed(context.store) });
      const processes = [make(), make(), make()];
      const admitted = new Map<number, number>();
      const admit = (count: number) =>
        admitted.set(context.now(), (admitted.get(context.now()) ?? 0) + count);
      admit(await untilLeased(chance.pick(processes), key, leased));
      for (let turn = 0; turn < 30; turn += 1) {
        const each = chance.pick(processes);
        let count = 0;
        for (let left = 1 + chance.below(chance.pick([8, 90])); left > 0; left -= 1)
          if ((await each.verifyKey({ key })).valid) count += 1;
        admit(count);
        if (chance.below(3) > 0) context.advance(chance.below(chance.pick([10, 100, duration])));
        if (chance.below(10) > 0) continue;
        const ended = chance.below(processes.length);
        await processes[ended]?.close();
        processes[ended] = make();
      }
      for (const each of processes) await each.close();
      const about = `seed ${seed}: ${JSON.stringify(bucket)}, ${leased()} leased`;
      const instants = [...admitted];
      for (const [from] of instants) {
        let units = 0;
        for (const [at, count] of instants.filter(([instant]) => instant >= from)) {
          units += count;
          expect(units * duration, about).toBeLessThanOrEqual(
            burst * duration + (at - from) * limit,
          );
        }
      }
      context.advance(Math.ceil((burst * duration) / limit));
      const plain = context.another({ leases: undefined });
      const left = { remaining: burst - 1 };
      expect(await plain.verifyKey({ key }), about).toMatchObject({ ratelimit: left });
    }
  });

  test("E2: units leased before a bucket was reset admit nobody after the reset resolved, and are never returned", async () => {
    const { onEvent, leased } = counting();
    const context = open({ leases: { ms: 100 }, onEvent });
    const latchkey = context.another({ store: unclosed(context.store) });
    const bucket = { limit: 1, duration: "1h", burst: 40_000, algorithm: "token-bucket" } as const;
    const { key, keyId } = await issue(context, { ratelimit: bucket });
    await untilLeased(latchkey, key, leased);
    const plain = context.another({ leases: undefined });
    await plain.resetLimit({ keyId, name: "default" });
    expect(await plain.verifyKey({ key })).toMatchObject({ ratelimit: { remaining: 39_999 } });
    await latchkey.close();
    expect(await plain.verifyKey({ key })).toMatchObject({ ratelimit: { remaining: 39_998 } });
  });
});
