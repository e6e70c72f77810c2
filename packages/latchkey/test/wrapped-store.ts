import type { KeyStore } from "@latchkey/core";

/** A store in which some methods are others. */
export function wrapped(store: KeyStore, methods: Partial<KeyStore>): KeyStore {
  return new Proxy(store, {
    get(target, name) {
      const replaced = Reflect.get(methods, name) as unknown;
      if (replaced !== undefined) return replaced;
      const method = Reflect.get(target, name) as unknown;
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
}

/** A store that does something before one commit: another caller who is faster. */
export function overtaken(store: KeyStore, overtake: () => Promise<unknown>): KeyStore {
  let isDone = false;
  return wrapped(store, {
    commit: async (workspaceId, change) => {
      if (!isDone) {
        isDone = true;
        await overtake();
      }
      return store.commit(workspaceId, change);
    },
  });
}

/** The store as it is, but that it outlives the latchkey that closes it. */
export function unclosed(store: KeyStore): KeyStore {
  return wrapped(store, { close: async () => undefined });
}
