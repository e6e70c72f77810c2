import { setImmediate as nextTurn } from "node:timers/promises";
import { createLatchkey } from "@latchkey/core";
import { fillApi, fillStore } from "../fixture/fill.js";
import { openStore, type StoreKind } from "../fixture/stores.js";
import { GUARDED } from "../questions.js";
import { latchkeySide } from "../sides/latchkey.js";
import type { Side } from "../sides/side.js";
import type { Work } from "./work.js";

const VERIFIED_KEYS = 1_000;

/** How long the slowest of a hundred verifications takes while an API of very many keys is deleted in the same process. */
export function verifyBesideDeletion(kind: StoreKind): Work {
  return async ({ place, scale }) => {
    const keyCount = scale.sizes.at(-1) ?? 0;
    const latchkey = createLatchkey({
      store: await openStore(kind, place, "latchkey"),
      auditLog: false,
    });
    const { apiId } = await fillStore(latchkey, keyCount, 1);
    const verified = Math.min(VERIFIED_KEYS, scale.keys);
    const { secrets } = await fillApi(latchkey, verified, verified);
    const side = latchkeySide(latchkey, GUARDED, secrets.length);
    // Knows every key, and its code, before anything is timed.
    await timesOf(side, secrets, (calls) => calls < 5 * secrets.length);
    const quiet = await timesOf(side, secrets, (calls) => calls < 10 * secrets.length);
    let isDeleted = false;
    const deletion = latchkey.deleteApi({ apiId }).then(() => {
      isDeleted = true;
    });
    const startedAt = performance.now();
    const beside = await timesOf(side, secrets, () => !isDeleted);
    await deletion;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    if ((await latchkey.listApis()).apis.some(({ id }) => id === apiId))
      throw new Error("the API is still there");
    await latchkey.close();
    return [
      {
        id: `deletion/${kind}`,
        title: `99th percentile of a verification while an API of ${keyCount.toLocaleString("en")} keys is deleted`,
        unit: "µs",
        sides: [
          { name: "quiet", samples: [percentile99(quiet)] },
          { name: "latchkey", samples: [percentile99(beside)] },
        ],
        notes: [`${kind}: the deletion took ${seconds} s beside ${beside.length} verifications`],
      },
    ];
  };
}

/** Each verification takes a turn of the event loop, as in a server. @returns Microseconds of each. */
async function timesOf(
  side: Side,
  secrets: readonly string[],
  goesOn: (calls: number) => boolean,
): Promise<readonly number[]> {
  const times: number[] = [];
  do {
    const secret = secrets[times.length % secrets.length] as string;
    const startedAt = performance.now();
    const verdict = await side.verify(secret, "");
    times.push((performance.now() - startedAt) * 1_000);
    if (!side.isExpected(verdict)) throw new Error("a good key was refused");
    await nextTurn();
  } while (goesOn(times.length));
  return times;
}

function percentile99(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
