import type { Change, KeyStore } from "@latchkey/core";

/** A store with a replica. */
export interface FailingOver {
  readonly store: KeyStore;
  /** From now on, the replica gets no commits. */
  cut(): void;
  /** From now on, the replica is the store: what was committed after the cut is lost. */
  failOver(): void;
}

/** A store whose commits go to a replica too, in the same order. */
export function failingOver(primary: KeyStore, replica: KeyStore): FailingOver {
  let isCut = false;
  let current = primary;
  let last: Promise<unknown> = Promise.resolve();
  const commitNow: KeyStore["commit"] = async (workspaceId, change) => {
    const isReplicated = !isCut;
    const result = await current.commit(workspaceId, withoutHandles(change));
    if (isReplicated && result.kind === "committed")
      await replica.commit(workspaceId, withoutHandles(change));
    return result;
  };
  const commit: KeyStore["commit"] = (workspaceId, change) => {
    const committing = last.then(() => commitNow(workspaceId, change));
    last = committing.catch(() => undefined);
    return committing;
  };
  const store = new Proxy(primary, {
    get(_, name) {
      if (name === "commit") return commit;
      const method: unknown = Reflect.get(current, name);
      return typeof method === "function" ? method.bind(current) : method;
    },
  });
  return {
    store,
    cut: () => {
      isCut = true;
    },
    failOver: () => {
      current = replica;
    },
  };
}

/** Handles are those of one store. */
function withoutHandles(change: Change): Change {
  return { ...change, expects: change.expects.map(({ handle: _, ...rest }) => rest) };
}
