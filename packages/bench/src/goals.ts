/** Where the keys of a measurement are. */
export type StoreKind = "memory" | "sqlite" | "redis";

/** A piece of work that is measured against its limit, with the ratio to reach. */
export interface Goal {
  readonly id: string;
  readonly work: string;
  readonly store: StoreKind;
  /** Whether the keys have uses and a rate limit. */
  readonly isCounted: boolean;
  /** How many verifications are under way at any time. */
  readonly inFlight: number;
  /** Whether the question names a permission, as a guarded route does; else it is the key alone. */
  readonly asksPermission: boolean;
  /** Highest ratio to the limit that meets the goal. */
  readonly maxRatio: number;
}

/** The goals for verification in one process, each asked with and without a permission. */
export const GOALS: readonly Goal[] = [
  ...goals("P1", "memory, uses + window", "memory", true, 1, 1.5),
  ...goals("P2", "memory, no counters", "memory", false, 1, 1.5),
  ...goals("P3", "SQLite, no counters", "sqlite", false, 1, 0.6),
  ...goals("P4", "SQLite, uses + window", "sqlite", true, 1, 1.15),
  ...goals("P7", "Redis, uses + window", "redis", true, 1, 1.15),
  ...goals("P7", "Redis, uses + window, 64 in flight", "redis", true, 64, 1.15),
];

function goals(
  id: string,
  work: string,
  store: StoreKind,
  isCounted: boolean,
  inFlight: number,
  maxRatio: number,
): readonly Goal[] {
  return [false, true].map((asksPermission) => ({
    id,
    work: asksPermission ? `${work}, permission` : work,
    store,
    isCounted,
    inFlight,
    asksPermission,
    maxRatio,
  }));
}
