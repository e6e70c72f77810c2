import type { Pace } from "./measure/interleave.js";

/** How large and how long a run is. */
export interface Scale {
  readonly pace: Pace;
  /** For work that runs much code, which takes longer to be compiled and optimised. */
  readonly slowPace: Pace;
  /** Most connections of one pool. */
  readonly connections: number;
  /** Keys of most measurements. */
  readonly keys: number;
  /** Numbers of keys at which growth is measured, ascending. */
  readonly sizes: readonly number[];
  /** Keys in use, and the size of the cache, which is smaller. */
  readonly workingSet: { readonly keys: number; readonly cache: number };
  /** Keys of a cold measurement; each is verified once. */
  readonly coldKeys: number;
  /** Keys created, and keys imported, in each round. */
  readonly created: number;
  readonly imported: number;
  /** Concurrent verifications of one key with 100 uses. */
  readonly atOnce: number;
  /**
   * For leases: how long each side verifies in a round, in ms, which must be longer than a lease; the largest number of processes; and
   * numbers of keys.
   */
  readonly leases: {
    readonly sliceMs: number;
    readonly processes: number;
    readonly keys: readonly number[];
  };
  /** Rounds for work that starts programs or writes much. */
  readonly fewRounds: number;
}

const FULL_PACE: Pace = { rounds: 15, sliceMs: 20, warmUpMs: 200, leadIn: 0.2 };
const QUICK_PACE: Pace = { rounds: 2, sliceMs: 3, warmUpMs: 5, leadIn: 0.2 };

/** The scale of the figures in the README. */
export const FULL: Scale = {
  pace: FULL_PACE,
  slowPace: { ...FULL_PACE, sliceMs: 40, warmUpMs: 2_000 },
  connections: 10,
  keys: 10_000,
  sizes: [10_000, 100_000, 1_000_000],
  workingSet: { keys: 100_000, cache: 32_768 },
  coldKeys: 10_000,
  created: 500,
  imported: 10_000,
  atOnce: 1_000,
  leases: { sliceMs: 600, processes: 4, keys: [1, 100_000] },
  fewRounds: 10,
};

/** For checking that the benchmark is correct. Its figures mean nothing. */
export const QUICK: Scale = {
  pace: QUICK_PACE,
  slowPace: QUICK_PACE,
  // A new connection of PostgreSQL reads the catalog and compiles the functions again, which takes longer than the few calls.
  connections: 2,
  keys: 200,
  sizes: [200, 400],
  workingSet: { keys: 500, cache: 200 },
  coldKeys: 200,
  created: 20,
  imported: 200,
  atOnce: 200,
  leases: { sliceMs: 20, processes: 2, keys: [1] },
  fewRounds: 1,
};
