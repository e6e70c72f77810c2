import type { KeyStore } from "@latchkey/core";

/** A store in which something happens behind the keys of the last pass that compares: what follows is in the trail alone. */
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
