import type { KeyStore } from "./key-store.js";

/** Name of a method of {@link KeyStore}. */
export type StoreMethod = keyof KeyStore;

/** One call of a store. */
export interface StoreCall {
  readonly method: StoreMethod;
  /** Null for `readClock` and `close`, which concern no workspace. */
  readonly workspaceId: string | null;
}

/**
 * Stands between a latchkey and its store. What it answers, throws or rejects with is what the caller gets.
 *
 * @param run - Makes the call, and answers what the store answers: `charge` may do so without a promise.
 */
export type StoreInterceptor = (call: StoreCall, run: () => unknown) => unknown;

// As an object: a method that the port gains does not compile until it is listed.
const METHODS = Object.keys({
  read: true,
  page: true,
  commit: true,
  charge: true,
  addStatistics: true,
  readStatistics: true,
  deleteStatistics: true,
  readClock: true,
  close: true,
} satisfies Record<StoreMethod, true>) as readonly StoreMethod[];

/** A store whose every call goes through `around`: to measure it, to delay it, to make it fail. It has the methods that `store` has. */
export function interceptStore(store: KeyStore, around: StoreInterceptor): KeyStore {
  const methods = METHODS.filter((method) => store[method] !== undefined).map((method) => [
    method,
    (...args: readonly unknown[]) =>
      around({ method, workspaceId: workspaceIdOf(args[0]) }, () =>
        Reflect.apply(store[method] as () => unknown, store, args),
      ),
  ]);
  return Object.fromEntries(methods) as KeyStore;
}

/** The first argument is the id itself, or a plan that names it. */
function workspaceIdOf(first: unknown): string | null {
  if (typeof first === "string") return first;
  return (first as { readonly workspaceId: string } | undefined)?.workspaceId ?? null;
}
