import { interceptStore, type KeyStore } from "@latchkey/core";

/** A store whose process dies. */
export interface DyingStore {
  readonly store: KeyStore;
  /** How many calls were carried out. */
  readonly calls: () => number;
  /** From now on no call is carried out. */
  die(): void;
}

/** The store as a process uses it that dies before a call: neither this nor any later one is carried out. `before`: number of the call, from 0. */
export function dyingStore(store: KeyStore, before: number = Number.POSITIVE_INFINITY): DyingStore {
  let [calls, end] = [0, before];
  return {
    store: interceptStore(store, (call, run) => {
      if (call.method === "close") return run();
      if (calls >= end) return Promise.reject(new Error("killed"));
      calls += 1;
      return run();
    }),
    calls: () => calls,
    die: () => {
      end = 0;
    },
  };
}
