import type { KeyStore } from "@latchkey/core";

/** A way to be wrong that stores have been wrong in, planted into a store that is right. */
export interface Mutant {
  /** What the store does, to be read after "a store that". */
  readonly mistake: string;
  readonly plant: (store: KeyStore) => KeyStore;
  /** Titles of promises of which each must notice. */
  readonly noticedBy: readonly string[];
  /** Whether random sequences of calls, one at a time, must notice too. */
  readonly isNoticedByModel: boolean;
}

/** A store with some methods replaced. */
export function withMethods(store: KeyStore, methods: Partial<KeyStore>): KeyStore {
  return new Proxy(store, {
    get(target, name: keyof KeyStore) {
      const method: unknown = methods[name] ?? target[name];
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
}

/** Lets every other call of this turn of the event loop happen first. */
export const elsewhere = () => new Promise<void>((resolve) => setImmediate(resolve));
