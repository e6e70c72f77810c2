import { type KeyStore, keysOfApi, type Latchkey, type LoadedRecord } from "@latchkey/core";
import type { KeyRings } from "../key-rings-from-env.js";
import { RingTrial, storedSecretOf } from "./key-rings.js";

/** Most keys that are looked at. */
const MAX_KEYS = 10_000;

const PAGE = 500;

/**
 * Why a secret that no key has may be one of this workspace all the same: keys that begin like it have hashes that were made with
 * a pepper which is not the one at hand. Nothing else can be known, since the hash is all that is stored. At most 10,000 keys are
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
  for await (const loaded of keyRecords(latchkey, store)) {
    if (looked === MAX_KEYS) break;
    looked += 1;
    if (secret.startsWith(storedSecretOf(loaded).start)) trial.look(loaded);
  }
  const wrong = [...trial.pepperFindings()].filter(({ state }) => state === "wrong");
  return wrong.map(({ found }) => `keys that begin like this secret: ${found}`);
}

async function* keyRecords(latchkey: Latchkey, store: KeyStore): AsyncIterable<LoadedRecord> {
  for await (const { id } of latchkey.apis()) {
    const list = { kind: "key", list: keysOfApi(id), limit: PAGE } as const;
    let after: string | null = null;
    do {
      const { found, hasMore } = await store.page(latchkey.workspaceId, { ...list, after });
      yield* found;
      after = hasMore ? (found.at(-1)?.record.id ?? null) : null;
    } while (after !== null);
  }
}
