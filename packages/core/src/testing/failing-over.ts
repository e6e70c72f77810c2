import type { Change } from "../store/change.js";
import type { KeyStore } from "../store/key-store.js";

const METHODS = [
  "read",
  "page",
  "charge",
  "settle",
  "holds",
  "addStatistics",
  "readStatistics",
  "pageStatistics",
  "nextStatisticsDay",
  "deleteStatistics",
  "forget",
  "scan",
  "scanWindows",
  "close",
] as const satisfies readonly (keyof KeyStore)[];

/** When a store with a replica fails over, besides by hand. */
export interface Failover {
  /** Whether the replica gets neither this commit nor any later one. */
  readonly isLost?: (change: Change) => boolean;
  /** Whether the replica is the store from this commit on. Until a commit is lost, none is. */
  readonly isPromoting?: (change: Change) => boolean;
}

/** A store that fails over to a replica without its last commits, and no call fails meanwhile. Only commits reach the replica. */
export interface FailingOver {
  readonly store: KeyStore;
  /** From now on, the replica gets no commits. */
  cut(): void;
  /** From now on, the replica is the store, if it lacks anything. */
  failOver(): void;
}

/** A store whose commits go to a replica too, in the same order. */
export function failingOver(
  primary: KeyStore,
  replica: KeyStore,
  { isLost = () => false, isPromoting = () => false }: Failover = {},
): FailingOver {
  let isCut = false;
  let current = primary;
  let last: Promise<unknown> = Promise.resolve();
  const failOver = () => {
    if (isCut) current = replica;
  };
  const commitNow: KeyStore["commit"] = async (workspaceId, change) => {
    if (isPromoting(change)) failOver();
    if (current === replica) return replica.commit(workspaceId, withoutHandles(change));
    isCut ||= isLost(change);
    const isReplicated = !isCut;
    const result = await primary.commit(workspaceId, withoutHandles(change));
    if (isReplicated && result.kind === "committed")
      await replica.commit(workspaceId, withoutHandles(change));
    return result;
  };
  const commit: KeyStore["commit"] = (workspaceId, change) => {
    const committing = last.then(() => commitNow(workspaceId, change));
    last = committing.catch(() => undefined);
    return committing;
  };
  // Each call goes to the current one, also if the object was spread before.
  const store = Object.fromEntries(
    METHODS.filter((name) => name in primary).map((name) => [
      name,
      (...given: readonly unknown[]) =>
        Reflect.apply(current[name] as () => unknown, current, given),
    ]),
  ) as unknown as KeyStore;
  const cut = () => {
    isCut = true;
  };
  return { store: { ...store, commit }, cut, failOver };
}

/** Handles are those of one store. */
function withoutHandles(change: Change): Change {
  return { ...change, expects: change.expects.map(({ handle: _, ...rest }) => rest) };
}
