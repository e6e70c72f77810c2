import type { ChargePlan } from "./charge.js";
import type { KeyStore } from "./key-store.js";

/** Name of a method of {@link KeyStore}. */
export type StoreMethod = Exclude<keyof KeyStore, "countsInStep">;

export interface StoreCall {
  readonly method: StoreMethod;
  /** Null for `readClock` and `close`. */
  readonly workspaceId: string | null;
  /** Whether it changes nothing, so that it can be repeated. */
  readonly isRead: boolean;
  /** Present if the call writes counts, which no operation waits for. */
  readonly isBeside?: true;
}

/** Called instead of the store: the caller gets what it returns or throws. `run` calls the store, which may answer synchronously. */
export type StoreInterceptor = (call: StoreCall, run: () => unknown) => unknown;

/** Methods that never change anything. */
const READS: ReadonlySet<unknown> = new Set<StoreMethod>([
  "read",
  "page",
  "holds",
  "readStatistics",
  "pageStatistics",
  "nextStatisticsDay",
  "scan",
  "scanWindows",
  "readClock",
]);

let isBeside = false;

/** Makes a call that no operation waits for, and tells interceptors so. */
export function runBeside<Answer>(call: () => Answer): Answer {
  isBeside = true;
  try {
    return call();
  } finally {
    isBeside = false;
  }
}

/** A store whose calls all go through `around`, to measure or delay them, or make them fail. */
export function interceptStore(store: KeyStore, around: StoreInterceptor): KeyStore {
  return new Proxy(store, {
    get(_, name) {
      const method: unknown = Reflect.get(store, name);
      if (typeof method !== "function") return method;
      return (...args: readonly unknown[]) => {
        const [first] = args;
        const call = {
          method: name as StoreMethod,
          workspaceId: workspaceIdOf(first),
          isRead: READS.has(name) || (name === "charge" && (first as ChargePlan).mode === "peek"),
        };
        return around(isBeside ? { ...call, isBeside } : call, () =>
          Reflect.apply(method, store, args),
        );
      };
    },
  });
}

/** The first argument is the id itself, or a plan that names it. */
function workspaceIdOf(first: unknown): string | null {
  if (typeof first === "string") return first;
  return (first as { readonly workspaceId: string } | undefined)?.workspaceId ?? null;
}
