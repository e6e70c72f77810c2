import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";

const REPLACEMENTS = 8;

/** Two limits whose names contain the number of their replacement. */
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

  test("of a rotated key and its successor keep all taken units, whichever of the two is changed", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const limit = { limit: 3, duration: "1h" } as const;
    const codesOf = async (key: string) => {
      const verdicts = [await latchkey.verifyKey({ key }), await latchkey.verifyKey({ key })];
      return verdicts.map(({ code }) => code);
    };
    for (const isOld of [true, false]) {
      const old = await latchkey.createKey({ apiId, ratelimit: limit });
      const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: "1d" });
      const [changed, other] = isOld ? [old, next] : [next, old];
      expect(await codesOf(other.key)).toEqual(["VALID", "VALID"]);
      const { keyId } = changed;
      for (const ratelimit of [{ limit: 3, duration: "1m" } as const, null])
        await latchkey.updateKey({ keyId, ratelimit });
      await latchkey.updateKeys({ keyIds: [keyId], ratelimits: [] });
      expect(await codesOf(other.key)).toEqual(["VALID", "RATE_LIMITED"]);
      // A limit that it gets back continues with the units left, and one with another duration is full.
      await latchkey.updateKey({ keyId, ratelimit: limit });
      expect(await codesOf(changed.key)).toEqual(["RATE_LIMITED", "RATE_LIMITED"]);
      await latchkey.updateKey({ keyId, ratelimit: { ...limit, duration: "2h" } });
      expect(await codesOf(changed.key)).toEqual(["VALID", "VALID"]);
    }
  });
});
