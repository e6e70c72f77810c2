import type { KeyStore } from "@latchkey/core";

/** Calls `happen` once, after the last comparing pass has read the keys, so that only the trail records what changes. */
export function behindTheKeys(store: KeyStore, happen: () => Promise<unknown>): KeyStore {
  let passes = 0;
  return {
    ...store,
    page: async (workspaceId, want) => {
      if (want.list === "permission") passes += 1;
      if (want.list === "permission" && passes === 2) await happen();
      return store.page(workspaceId, want);
    },
  };
}
