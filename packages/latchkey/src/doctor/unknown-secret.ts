import type { KeyStore, Latchkey } from "@latchkey/core";
import { keyPages } from "../command-line/record-pages.js";
import type { KeyRings } from "../key-rings-from-env.js";
import { RingTrial, storedSecretOf } from "./key-rings.js";

/** After so many keys no more are looked at. */
const MAX_KEYS = 10_000;

/**
 * Why a secret that no key has may be one of this workspace all the same: keys that begin like it have hashes that were made with
 * a pepper which is not the one at hand. Nothing else can be known, since the hash is all that is stored. About 10,000 keys are
 * looked at.
 */
export async function otherPeppers(
  latchkey: Latchkey,
  store: KeyStore,
  rings: KeyRings,
  secret: string,
): Promise<readonly string[]> {
  const trial = new RingTrial(rings, latchkey.workspaceId);
  let looked = 0;
  for await (const records of keyPages(latchkey, store)) {
    for (const loaded of records)
      if (secret.startsWith(storedSecretOf(loaded).start)) trial.look(loaded);
    looked += records.length;
    if (looked >= MAX_KEYS) break;
  }
  const wrong = [...trial.pepperFindings()].filter(({ state }) => state === "wrong");
  return wrong.map(({ found }) => `keys that begin like this secret: ${found}`);
}
