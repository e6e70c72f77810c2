/** Where the keys of a measurement are. */
export type StoreKind = "memory" | "sqlite" | "redis";

/** A piece of work that is measured against its limit, with the ratio that it is to reach. */
export interface Goal {
  readonly id: string;
  readonly work: string;
  readonly store: StoreKind;
  /** Whether the keys have uses and a rate limit. */
  readonly isCounted: boolean;
  /** How many verifications are under way at any time. */
  readonly inFlight: number;
  /** Highest ratio to the limit that meets the goal. */
  readonly maxRatio: number;
}

/** The goals for verification in one process. */
export const GOALS: readonly Goal[] = [
  goal("P1", "memory, uses + window", "memory", true, 1, 1.5),
  goal("P2", "memory, no counters", "memory", false, 1, 1.5),
  goal("P3", "SQLite, no counters", "sqlite", false, 1, 0.6),
  goal("P4", "SQLite, uses + window", "sqlite", true, 1, 1.1),
  goal("P7", "Redis, uses + window", "redis", true, 1, 1.15),
  goal("P7", "Redis, uses + window, 64 in flight", "redis", true, 64, 1.15),
];

function goal(
  id: string,
  work: string,
  store: StoreKind,
  isCounted: boolean,
  inFlight: number,
  maxRatio: number,
): Goal {
  return { id, work, store, isCounted, inFlight, maxRatio };
}
