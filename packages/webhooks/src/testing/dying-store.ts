import { interceptStore, type KeyStore } from "@latchkey/core";

/** A store as seen by a process that dies. */
export interface DyingStore {
  readonly store: KeyStore;
  /** Number of calls that were carried out. */
  readonly calls: () => number;
  /** From now on, every call rejects and is not carried out. */
  die(): void;
}

/** The store as seen by a process that dies before call number `before`, counted from 0: neither that call nor any later one is made. */
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
