import type { KeyStore } from "@latchkey/core";

/** A store that records the name of every method called. */
export function recordingStore(store: KeyStore, calls: string[]): KeyStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        calls.push(String(name));
        return Reflect.apply(member, target, args);
      };
    },
  });
}
