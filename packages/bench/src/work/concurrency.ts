import type { StoreKind } from "../fixture/stores.js";
import type { Measurement } from "../measure/measurement.js";
import { GUARDED, type Question } from "../questions.js";
import { openSides } from "./sides.js";
import type { Work } from "./work.js";

const USES = 100;
const OURS: ReadonlySet<string> = new Set(["limit", "latchkey", "verifier"]);

/** Verifies a key with 100 uses and a limit of 100 many times at once, and counts what each side admits. Throws if ours are not exact. */
export function admitExactly(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const question: Question = {
      ...GUARDED,
      id: "scarce",
      keys: {
        ...GUARDED.keys,
        remaining: USES,
        limits: GUARDED.keys.limits.map((limit) => ({ ...limit, limit: USES })),
      },
    };
    const sides = await openSides(kind, location, question, 1);
    const [secret = ""] = sides.secrets;
    const admitted: { name: string; samples: readonly number[] }[] = [];
    for (const side of sides.present) {
      const verdicts = await Promise.all(
        Array.from({ length: scale.atOnce }, (_, call) => side.verify(secret, `r${call}`)),
      );
      const count = verdicts.filter((verdict) => side.isExpected(verdict)).length;
      if (OURS.has(side.name) && count !== USES)
        throw new Error(`${side.name} admitted ${count} of ${USES} uses`);
      admitted.push({ name: side.name, samples: [count] });
    }
    await sides.close();
    const measurement: Measurement = {
      id: `exact/${kind}`,
      title: `admitted of ${scale.atOnce} verifications at once of one key with ${USES} uses`,
      unit: "admitted",
      sides: admitted,
    };
    return [measurement];
  };
}
