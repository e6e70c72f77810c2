import type { KeySetup } from "../history.js";
import type { Network } from "../world/link.js";

/** One thing that somebody does, at an instant that counts from the step before. */
export interface Step {
  readonly afterMs: number;
  readonly process: number;
  /** Its name, one of those in `actions.ts`. */
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A whole schedule, as data: the same plan always runs alike. */
export interface Plan {
  readonly seed: number;
  readonly network: Network;
  readonly processes: number;
  /** The clock of each process less the true time, in ms. */
  readonly clockOffsets: readonly number[];
  /** How long a change takes to become durable, in ms; null: the store answers before, and a failover may lose what it answered. */
  readonly flushMs: number | null;
  /** Most keys that each process keeps. */
  readonly cachedKeys: number;
  /** Of each workspace the uses of its identities; null: unlimited. */
  readonly workspaces: readonly { readonly identities: readonly (number | null)[] }[];
  readonly keys: readonly (KeySetup & { readonly workspace: number })[];
  readonly steps: readonly Step[];
}
