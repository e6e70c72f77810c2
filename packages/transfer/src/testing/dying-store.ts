import type { KeyStore } from "@latchkey/core";

/**
 * Ends the process that uses some stores, as far as these can tell: after so many calls none is carried out any more. Where only
 * writes count, each state that a death can leave is left once.
 */
export class Death {
  calls = 0;

  constructor(
    readonly after: number,
    readonly counts: "calls" | "writes" = "calls",
  ) {}

  get hasCome(): boolean {
    return this.calls >= this.after;
  }

  /** The store as the process that dies uses it. */
  store(store: KeyStore): KeyStore {
    const write = <Answer>(carryOut: () => Answer): Answer => {
      if (this.hasCome) throw new Error("killed");
      this.calls += 1;
      return carryOut();
    };
    const read = <Answer>(carryOut: () => Answer): Answer => {
      if (this.counts === "calls") return write(carryOut);
      if (this.hasCome) throw new Error("killed");
      return carryOut();
    };
    return {
      read: async (...given) => read(() => store.read(...given)),
      page: async (...given) => read(() => store.page(...given)),
      commit: async (...given) => write(() => store.commit(...given)),
      charge: async (...given) => write(() => store.charge(...given)),
      settle: async (...given) => write(() => store.settle(...given)),
      holds: async (...given) => read(() => store.holds(...given)),
      addStatistics: async (...given) => write(() => store.addStatistics(...given)),
      readStatistics: async (...given) => read(() => store.readStatistics(...given)),
      pageStatistics: async (...given) => read(() => store.pageStatistics(...given)),
      deleteStatistics: async (...given) => write(() => store.deleteStatistics(...given)),
      forget: async (...given) => write(() => store.forget(...given)),
      scan: async (...given) => read(() => store.scan(...given)),
      close: () => store.close(),
    };
  }
}

/** Does something until the process dies, and answers whether it lived to see the end. */
export async function livesThrough(death: Death, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!death.hasCome) throw error;
    return false;
  } finally {
    // Nothing of it goes on afterwards.
    await new Promise(setImmediate);
  }
}
