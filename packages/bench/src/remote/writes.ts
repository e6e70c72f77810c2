import type { Latchkey } from "@latchkey/core";
import { countedKey, KEYS_A_CALL, unknownSecret } from "../fixture/fill.js";
import { seededRandom, shuffled } from "../measure/random.js";

const SEED = 20_260_701;

/** Changes of a store. Each call resolves when the change is done, and rejects if it failed. */
export interface Writes {
  readonly create: () => Promise<unknown>;
  readonly import: () => Promise<unknown>;
  readonly delete: () => Promise<unknown>;
  readonly deleteApi: () => Promise<unknown>;
}

/** `keyIds`: keys that may be deleted, in random order, so that neighbours in the store are not deleted one after the other. */
export function writesOf(latchkey: Latchkey, apiId: string, keyIds: readonly string[]): Writes {
  const order = shuffled(keyIds.length, seededRandom(SEED)).values();
  return {
    create: () => latchkey.createKey(countedKey(apiId)),
    import: () =>
      latchkey.createKeys(
        Array.from({ length: KEYS_A_CALL }, () => ({ ...countedKey(apiId), ...unknownSecret() })),
      ),
    delete: () => {
      const { value: index, done } = order.next();
      if (done === true) throw new RangeError("no key is left to delete");
      return latchkey.deleteKey({ keyId: keyIds[index] as string });
    },
    deleteApi: () => latchkey.deleteApi({ apiId }),
  };
}
