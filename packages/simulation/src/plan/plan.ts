import type { KeySetup, Refill } from "../history.js";
import type { Network } from "../world/link.js";
import type { Figures } from "./limits.js";

/** One action, timed from the step before. */
export interface Step {
  readonly afterMs: number;
  readonly process: number;
  /** Its name in `actions.ts`. */
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** How a workspace begins. */
export interface WorkspaceSetup {
  /** The uses of its identities; null: unlimited. */
  readonly identities: readonly (number | null)[];
  /** The limit named `shared` of each identity; null: none. Older plans lack it, and the refill. */
  readonly limit?: Figures | null;
  /** How the uses of its identities are restored; null: they are not. */
  readonly refill?: Refill | null;
}

/** A whole schedule, as data. The same plan always gives the same run. */
export interface Plan {
  readonly seed: number;
  readonly network: Network;
  readonly processes: number;
  /** The clock of each process less the true time, in ms. */
  readonly clockOffsets: readonly number[];
  /** How long a change takes to become durable, in ms; null: the store answers before that, and a failover may lose confirmed changes. */
  readonly flushMs: number | null;
  /** Most keys in the cache of each process. */
  readonly cachedKeys: number;
  readonly workspaces: readonly WorkspaceSetup[];
  /** How long the leases of each process are, in ms; null: it takes none. Absent: none does. */
  readonly leases?: readonly (number | null)[];
  readonly keys: readonly (KeySetup & { readonly workspace: number })[];
  /** Whether each process sends webhooks. Absent: none does. */
  readonly sends?: boolean;
  /** Whether some of them are of an earlier version, which does not know all receivers. */
  readonly isMixed?: boolean;
  readonly steps: readonly Step[];
}

/** Whether the clocks of the processes differ, or were set. */
export function hasOtherClocks({ clockOffsets, steps }: Plan): boolean {
  return (
    clockOffsets.some((offset) => offset !== 0) || steps.some(({ action }) => action === "setClock")
  );
}
