/** Whether a value is a promise of any kind, so that it can be waited for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}

/** Runs work one at a time for each name. */
export type Exclusive = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/** Makes an {@link Exclusive} for this process. Work of one name runs in the order of the calls. */
export function createExclusive(): Exclusive {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const previous = last.get(name) ?? Promise.resolve();
    const current = previous.then(work, work);
    const settled = current.catch(() => undefined);
    last.set(name, settled);
    try {
      return await current;
    } finally {
      if (last.get(name) === settled) last.delete(name);
    }
  };
}
