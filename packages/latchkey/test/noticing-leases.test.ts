import { expect, test } from "vitest";
import { chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { counting } from "./keys-in-use.js";
import { HOUR_MS } from "./test-context.js";
import { unclosed } from "./wrapped-store.js";

const TYPES = ["uses.low", "uses.gone", "limit.near"] as const;

describeOnEveryStore("notice of uses and limits with leases", (open, runs) => {
  test("each line that verifications cross is noticed once, whichever process had taken the unit ahead", async () => {
    const { onEvent, leased } = counting();
    const leases = { ms: 10_000, share: 0.3 };
    const context = open({ leases, onEvent, notice: { usesBelow: 300, limitAbove: 0.25 } });
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const missed: unknown[] = [];
    for (const seed of seedsOf(runs(40))) {
      const chance = chanceOf(seed);
      const { key, keyId } = await latchkey.createKey({
        apiId,
        remaining: 400,
        ratelimit: { limit: 400, duration: HOUR_MS },
      });
      const processes = [0, 1].map(() => context.another({ store: unclosed(context.store) }));
      let used = 0;
      while (used < 130) {
        const each = chance.pick(processes);
        for (let left = chance.below(30); left > 0; left -= 1, used += 1)
          expect((await each.verifyKey({ key })).code).toBe("VALID");
      }
      for (const each of processes) await each.close();
      expect((await latchkey.getKey({ keyId })).remaining).toBe(400 - used);
      const { events } = await latchkey.listAuditEvents({ keyId });
      const seen = events.map(({ type }) => type).filter((type) => TYPES.includes(type as never));
      if (seen.sort().join() !== "limit.near,uses.low") missed.push({ seed, used, seen });
    }
    expect(missed).toEqual([]);
    expect(leased()).toBeGreaterThan(0);
  });
});
