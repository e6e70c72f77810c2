import { type Change, createLatchkey } from "@latchkey/core";
import { mintSecrets } from "../fixture/keys.js";
import { openStore, type StoreKind } from "../fixture/stores.js";
import type { Measurement } from "../measure/measurement.js";
import { GUARDED } from "../questions.js";
import { openRaw } from "../raw/raw.js";
import { recordingStore, rowsOf } from "../raw/rows.js";
import type { Work } from "./work.js";

const KEYS_A_CALL = 100;

/** Measures createKeys, with 100 keys per call, against the same rows written by hand, with 100 keys per transaction. */
export function importKeys(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const { imported, fewRounds } = scale;
    const changes: Change[] = [];
    const store = recordingStore(await openStore(kind, location, "latchkey"), (change) =>
      changes.push(change),
    );
    const latchkey = createLatchkey({ store });
    const raw = await openRaw(kind, location);
    const { apiId } = await latchkey.createApi({ name: "benchmark" });
    const { permissions, remaining, limits } = GUARDED.keys;
    for (const name of permissions) await latchkey.createPermission({ name });
    const rawSamples: number[] = [];
    const ourSamples: number[] = [];
    // The first round warms up.
    for (let round = 0; round <= fewRounds; round += 1) {
      const secrets = await mintSecrets(imported);
      const imports = secrets.map((plaintext) => ({
        apiId,
        plaintext,
        permissions: [...permissions],
        ...(remaining !== null && { remaining }),
        ratelimits: [...limits],
      }));
      changes.length = 0;
      const ours = await timed(async () => {
        for (let from = 0; from < imported; from += KEYS_A_CALL)
          await latchkey.createKeys(imports.slice(from, from + KEYS_A_CALL));
      });
      const rows = changes.map(rowsOf);
      const byHand = await timed(async () => {
        for (const one of rows) await raw.write(one);
      });
      if (round === 0) continue;
      ourSamples.push((ours * 1_000) / imported);
      rawSamples.push((byHand * 1_000) / imported);
    }
    const { total } = await latchkey.listKeys({ apiId, limit: 1 });
    if (total !== imported * (fewRounds + 1)) throw new Error("not every key was imported");
    await latchkey.close();
    const measurement: Measurement = {
      id: `import/${kind}`,
      title: `import of ${imported * fewRounds} keys, each`,
      unit: "µs",
      sides: [
        { name: "raw", samples: rawSamples },
        { name: "latchkey", samples: ourSamples },
      ],
    };
    return [measurement];
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
