import type { KeyStore } from "@latchkey/core";
import type { Stage, StorePromise } from "./store-promise.js";

/** Opens an empty store. */
export type OpenEmptyStore = () => KeyStore | Promise<KeyStore>;

/** Opens a second handle on the data of a store. */
export type OpenAgain = (store: KeyStore) => KeyStore | Promise<KeyStore>;

/**
 * Runs one check on a store of its own, and closes the store whatever comes of it.
 *
 * @throws What the check rejects with, when the store breaks the promise.
 */
export async function runCheck(
  check: StorePromise["check"],
  openEmptyStore: OpenEmptyStore,
  openAgain?: OpenAgain,
): Promise<void> {
  const stage = await openStage(openEmptyStore, openAgain);
  try {
    await check(stage);
  } finally {
    await stage.close();
  }
}

async function openStage(openEmptyStore: OpenEmptyStore, openAgain?: OpenAgain): Promise<Stage> {
  const store = await openEmptyStore();
  const other = openAgain === undefined ? store : await openAgain(store);
  return {
    store,
    other,
    openEmpty: () => openStage(openEmptyStore, openAgain),
    close: async () => {
      if (other !== store) await other.close();
      await store.close();
    },
  };
}
