import { expect, test } from "vitest";
import { chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { counting } from "./keys-in-use.js";
import { HOUR_MS } from "./test-context.js";
import { unclosed } from "./wrapped-store.js";

describeOnEveryStore("usage of keys whose units are taken ahead", (open, runs) => {
  test.each(["fixed", "sliding", "token-bucket"] as const)(
    "is what was verified, in the hour in which that happened: %s",
    async (algorithm) => {
      const { onEvent, leased } = counting();
      const context = open({ leases: { ms: 400, share: 0.4 }, onEvent });
      const { latchkey } = context;
      const plain = context.another({ leases: undefined });
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      for (const seed of seedsOf(runs(12))) {
        const chance = chanceOf(seed);
        const externalId = `pier-${seed}`;
        const all = { name: "all", limit: 800, duration: 10 * HOUR_MS, algorithm, autoApply: true };
        await latchkey.createIdentity({ externalId, remaining: 900, ratelimits: [all] });
        const shared = { externalId, usesFrom: "identity" } as const;
        const { key, keyId } = await latchkey.createKey({ apiId, ...shared });
        const make = () => context.another({ store: unclosed(context.store) });
        const processes = [make(), make(), make()];
        const expected = new Map<number, number>();
        let used = 0;
        for (let turn = 0; turn < 14; turn += 1) {
          const at = chance.below(processes.length);
          const each = processes[at] ?? latchkey;
          const cost = chance.pick([1, 1, 1, 3]);
          const hour = context.now() - (context.now() % HOUR_MS);
          for (let left = chance.below(50); left > 0; left -= 1) {
            if (!(await each.verifyKey({ key, remaining: { cost } })).valid) continue;
            used += cost;
            expected.set(hour, (expected.get(hour) ?? 0) + cost);
          }
          if (chance.below(4) === 0) context.advance(chance.below(50) * 60_000);
          if (chance.below(5) > 0) continue;
          await each.close();
          processes[at] = make();
        }
        for (const each of processes) await each.close();
        const { remaining, reserved = 0 } = await plain.getIdentity({ externalId });
        expect([remaining, reserved], `seed ${seed}`).toEqual([900 - used, 0]);
        context.advance(2 * HOUR_MS);
        const range = { start: context.now() - 24 * HOUR_MS, end: context.now() } as const;
        const asked = { ...range, granularity: "hour", by: "key", limit: 1_000 } as const;
        const { rows } = await latchkey.exportUsage(asked);
        const own = rows.filter((row) => row.keyId === keyId);
        expect(
          own.map(({ start, uses }) => [start, uses]),
          `seed ${seed}`,
        ).toEqual([...expected]);
      }
      expect(leased()).toBeGreaterThan(0);
    },
  );
});
