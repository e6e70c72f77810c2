import type { KeyStore } from "@latchkey/core";

/** What a check is run on. */
export interface Stage {
  /** An empty store. */
  readonly store: KeyStore;
  /** A second handle on the same data, as another process would hold; the same handle where there is no other. */
  readonly other: KeyStore;
  /** Sets up another stage with an empty store, for checks of many runs. */
  readonly openEmpty: () => Promise<Stage>;
  /** Closes both handles. Whoever opened a stage closes it. */
  readonly close: () => Promise<void>;
}

/** One thing that every store promises, and how to find out whether it keeps it. */
export interface StorePromise {
  /** Unique among all promises: a skip names it. */
  readonly title: string;
  /** Resolves when the promise is kept, rejects when it is broken. */
  readonly check: (stage: Stage) => Promise<void>;
  /** How long the check may take, where it is more than a minute. */
  readonly timeoutMs?: number;
}
