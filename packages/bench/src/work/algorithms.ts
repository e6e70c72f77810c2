import { createLatchkey } from "@latchkey/core";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import { openStore, type StoreKind } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import { GUARDED, type LimitShape } from "../questions.js";
import type { Work } from "./work.js";

/** More units per hour than any run takes, but few enough for the arithmetic of a bucket. */
const LIMIT: LimitShape = { name: "default", limit: 1e9, duration: 3_600_000, autoApply: true };

const ALGORITHMS = ["fixed", "sliding", "token-bucket"] as const;

/** Measures the guarded question for keys with a fixed window against keys with the other algorithms. */
export function verifyWithAlgorithms(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const latchkey = createLatchkey({ store: await openStore(kind, location, "algorithms") });
    const contenders = [];
    for (const algorithm of ALGORITHMS) {
      // All keys together are as many as in other tasks: more might not fit in the cache.
      const secrets = await mintSecrets(Math.ceil(scale.keys / ALGORITHMS.length));
      const keys = { ...GUARDED.keys, limits: [{ ...LIMIT, algorithm }] };
      const workspace = latchkey.workspace(`ws_${algorithm.replace("-", "_")}`);
      await new KeyIssuer(workspace, keys).issue(secrets);
      let next = 0;
      contenders.push({
        name: algorithm,
        async run(calls: number) {
          for (let call = 0; call < calls; call += 1) {
            const secret = secrets[next++ % secrets.length] as string;
            const { code } = await workspace.verifyKey(GUARDED.input(secret, ""));
            if (code !== "VALID") throw new Error(`a key with ${algorithm} is ${code}`);
          }
        },
      });
    }
    // The first verification of a key loads it, and a slice may be shorter than the list of keys.
    for (const { run } of contenders) await run(scale.keys);
    const [fixed, ...others] = await interleave(contenders, scale.pace);
    await latchkey.close();
    if (fixed === undefined) throw new Error("nothing was measured");
    return others.map((other) => ({
      id: `algorithms/${kind}/${other.name}`,
      title: `permission, uses, ${other.name} limit`,
      unit: "µs",
      sides: [fixed, other],
    }));
  };
}
