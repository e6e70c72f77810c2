import type { KeyStore } from "@latchkey/core";

/**
 * Simulates the death of the process that uses some stores: after a number of calls, they execute no more. If only writes are counted,
 * each state that a death can leave occurs once.
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

  /** The store as the dying process uses it. */
  store(store: KeyStore): KeyStore {
    const call = <Answer>(carryOut: () => Answer, counts = true): Answer => {
      if (this.hasCome) throw new Error("killed");
      if (counts) this.calls += 1;
      return carryOut();
    };
    const read = <Answer>(carryOut: () => Answer) => call(carryOut, this.counts === "calls");
    return {
      read: async (...given) => read(() => store.read(...given)),
      page: async (...given) => read(() => store.page(...given)),
      commit: async (...given) => call(() => store.commit(...given)),
      charge: async (...given) => call(() => store.charge(...given)),
      settle: async (...given) => call(() => store.settle(...given)),
      holds: async (...given) => read(() => store.holds(...given)),
      addStatistics: async (...given) => call(() => store.addStatistics(...given)),
      readStatistics: async (...given) => read(() => store.readStatistics(...given)),
      pageStatistics: async (...given) => read(() => store.pageStatistics(...given)),
      nextStatisticsDay: async (...given) => read(() => store.nextStatisticsDay(...given)),
      deleteStatistics: async (...given) => call(() => store.deleteStatistics(...given)),
      forget: async (...given) => call(() => store.forget(...given)),
      scan: async (...given) => read(() => store.scan(...given)),
      close: () => store.close(),
    };
  }
}

/** Runs `work` until the process dies. Whether it was complete by then. */
export async function livesThrough(death: Death, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!death.hasCome) throw error;
    return false;
  } finally {
    // Lets pending calls end, so that nothing continues afterwards.
    await new Promise(setImmediate);
  }
}
