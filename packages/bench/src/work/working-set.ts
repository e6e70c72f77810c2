import { createLatchkey } from "@latchkey/core";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import { openStore, type StoreKind } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import type { Measurement } from "../measure/measurement.js";
import { seededRandom, uniform, zipf } from "../measure/random.js";
import { GUARDED } from "../questions.js";
import { latchkeySide } from "../sides/latchkey.js";
import { limitSide } from "../sides/limit.js";
import { CountedAsking } from "./counting.js";
import type { Work } from "./work.js";

const SEED = 20_260_701;

/** Measures more keys in use than a process can cache, drawn uniformly or by Zipf's law. */
export function verifyWorkingSet(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const { keys, cache } = scale.workingSet;
    const latchkey = createLatchkey({
      store: await openStore(kind, location, "latchkey"),
      auditLog: false,
      maxCachedKeys: cache,
    });
    const secrets = await mintSecrets(keys);
    const rows = await new KeyIssuer(latchkey, GUARDED.keys).issue(secrets);
    const sides = [
      await limitSide(kind, location, "limit", rows, GUARDED),
      latchkeySide(latchkey, GUARDED, keys),
    ];
    const askings = sides.map((side) => new CountedAsking(side, secrets, GUARDED));
    // Fills the cache, and touches every row of the limit.
    for (const asking of askings) await asking.askAll();
    const measurements: Measurement[] = [];
    for (const [law, draw] of Object.entries({ zipf, uniform })) {
      const samples = await interleave(
        // Each side draws the same keys in the same order.
        askings.map((asking) => asking.contender(1, draw(keys, seededRandom(SEED)))),
        scale.pace,
      );
      measurements.push({
        id: `working-set/${kind}/${law}`,
        title: `${keys} keys in use, ${cache} in the cache, ${law}`,
        unit: "µs",
        sides: samples,
      });
    }
    for (const asking of askings) await asking.assertCounts();
    await latchkey.close();
    return measurements;
  };
}
