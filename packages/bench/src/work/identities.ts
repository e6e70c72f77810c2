import type { Ownership } from "../fixture/fill.js";
import type { StoreKind } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import type { Measurement } from "../measure/measurement.js";
import { GUARDED } from "../questions.js";
import type { Calls } from "../remote/protocol.js";
import { RemoteSide } from "../remote/remote-side.js";
import type { Work } from "./work.js";

const HEAP_MB = 8_192;

/** The operations measured, by the ownership of keys. */
const ASKED: Readonly<
  Record<Exclude<Ownership, "none">, { readonly [what: string]: Calls["operation"] }>
> = {
  "one each": { identity: "identity", identities: "identities" },
  "one of all": { verify: "verify", owned: "owned" },
};

const TITLES: Readonly<Record<string, string>> = {
  identity: "getIdentity by externalId",
  identities: "page of 100 identities",
  verify: "verification of a key of one identity that has all of them",
  owned: "page of 100 keys of one identity that has all of them",
};

/** Measures stores with growing numbers of identities, and identities with growing numbers of keys, in processes that take turns. */
export function ownedKeys(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const measurements: Measurement[] = [];
    for (const ownership of ["one each", "one of all"] as const) {
      const sides: RemoteSide[] = [];
      // A single identity has a tenth as many keys.
      for (const size of scale.sizes) {
        const keyCount = ownership === "one each" ? size : Math.ceil(size / 10);
        const unit = ownership === "one each" ? "identities" : "keys";
        const name = `${unit}-${keyCount}`;
        const keys = { keyCount, known: Math.min(keyCount, scale.keys), ownership };
        const opening = { kind, location, name, side: "latchkey", questionId: GUARDED.id } as const;
        const title = `${keyCount.toLocaleString("en")} keys`;
        sides.push(await RemoteSide.open(title, { ...opening, keys, auditLog: false }, HEAP_MB));
      }
      for (const [what, operation] of Object.entries(ASKED[ownership])) {
        const contenders = sides.map((side) => side.contender(operation));
        // Verifies every key once, so that no first verification is timed.
        if (operation === "verify") for (const each of contenders) await each.run(scale.keys);
        measurements.push({
          id: `owned/${kind}/${what}`,
          title: TITLES[what] ?? what,
          unit: "µs",
          sides: await interleave(contenders, scale.slowPace),
        });
      }
      for (const side of sides) await side.close();
    }
    return measurements;
  };
}
