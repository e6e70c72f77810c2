import type { Refill } from "../rules/refill.js";

/** What is kept of a reservation in the process that made it: its uses are shown with a refill that is due since. */
export interface ReservedUses {
  /** The API of its key. */
  readonly apiId: string;
  /** Null where nothing restores them. */
  readonly refill: Refill | null;
}
