/** A piece of work that is measured against its limit, with the ratio that it is to reach. */
export interface Goal {
  readonly id: string;
  readonly work: string;
  readonly store: "memory" | "sqlite";
  /** Whether the keys have uses and a rate limit. */
  readonly isCounted: boolean;
  /** Highest ratio to the limit that meets the goal. */
  readonly maxRatio: number;
}

/** The goals for verification in one process. */
export const GOALS: readonly Goal[] = [
  { id: "P1", work: "memory, uses + window", store: "memory", isCounted: true, maxRatio: 1.5 },
  { id: "P2", work: "memory, no counters", store: "memory", isCounted: false, maxRatio: 1.5 },
  { id: "P3", work: "SQLite, no counters", store: "sqlite", isCounted: false, maxRatio: 0.6 },
  { id: "P4", work: "SQLite, uses + window", store: "sqlite", isCounted: true, maxRatio: 1.1 },
];
