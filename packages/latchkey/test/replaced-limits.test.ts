import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";

const REPLACEMENTS = 8;

/** Two limits that say in their names which replacement they come from. */
const limitsOf = (round: number) =>
  ["tiles", "writes"].map((name) => ({
    name: `${name}-${round}`,
    limit: 1_000,
    duration: 3_600_000,
    autoApply: true,
  }));

describeOnEveryStore("limits of a key and of its identity", (open) => {
  test("are never met half, by any process, while they are replaced again and again", async () => {
    const { latchkey, another } = open();
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const externalId = "pier-7";
    const { identityId } = await latchkey.createIdentity({ externalId, ratelimits: limitsOf(0) });
    const shared = await latchkey.createKey({ apiId, externalId });
    const own = await latchkey.createKey({ apiId, ratelimits: limitsOf(0) });
    const processes = [latchkey, another()];
    const met: (readonly string[])[] = [];
    let isReplacing = true;

    const verify = async (process: (typeof processes)[number]) => {
      while (isReplacing) {
        for (const { key } of [shared, own]) {
          const verdict = await process.verifyKey({ key });
          if (!("ratelimits" in verdict)) throw new Error(`no limits: ${verdict.code}`);
          met.push((verdict.ratelimits ?? []).map(({ name }) => name).sort());
        }
        await new Promise(setImmediate);
      }
    };
    const replace = async () => {
      for (let round = 1; round <= REPLACEMENTS; round += 1) {
        await latchkey.updateIdentity({ identityId, ratelimits: limitsOf(round) });
        await latchkey.updateKey({ keyId: own.keyId, ratelimits: limitsOf(round) });
        await new Promise(setImmediate);
      }
      isReplacing = false;
    };
    await Promise.all([replace(), ...processes.map(verify)]);

    const whole = Array.from({ length: REPLACEMENTS + 1 }, (_, round) =>
      limitsOf(round).map(({ name }) => name),
    );
    for (const names of met) expect(whole).toContainEqual(names);
    expect(new Set(met.map(String)).size).toBeGreaterThan(1);
  });
});
