import type { KeyStore, Latchkey } from "@latchkey/core";
import { keyPages } from "../command-line/record-pages.js";
import type { KeyRings } from "../key-rings-from-env.js";
import { RingTrial, storedSecretOf } from "./key-rings.js";

/** Maximum number of keys to look at. */
const MAX_KEYS = 10_000;

/**
 * Why an unknown secret may belong to this workspace all the same: keys with the same start have hashes that were made with
 * another pepper than the current one. Nothing more can be known, because only the hash is stored. About 10,000 keys are
 * examined.
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
