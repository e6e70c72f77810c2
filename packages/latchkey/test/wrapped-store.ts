import type { KeyStore } from "@latchkey/core";

/** A store with some methods replaced. */
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

/** A store that runs `overtake` before one commit, like a faster caller. */
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

/** The same store, but closing a latchkey leaves it open. */
export function unclosed(store: KeyStore): KeyStore {
  return wrapped(store, { close: async () => undefined });
}
