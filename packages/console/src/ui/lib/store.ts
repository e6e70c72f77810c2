import { useEffect, useState } from "preact/hooks";

/** A value shared by parts of the page. */
export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  subscribe(listener: () => void): () => void;
}

/** Makes a store. */
export function createStore<Value>(initial: Value): Store<Value> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set: (value) => {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a store, updated whenever it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [, setValue] = useState(store.get());
  useEffect(() => {
    const follow = () => setValue(() => store.get());
    follow();
    return store.subscribe(follow);
  }, [store]);
  return store.get();
}
