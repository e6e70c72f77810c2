import { chargingPromises } from "./charging.js";
import { lookupPromises } from "./lookup.js";
import type { StorePromise } from "./store-promise.js";

/** Promises of one capability of a store. */
export interface Capability {
  readonly name: string;
  readonly promises: readonly StorePromise[];
}

/** Everything that every store promises, by capability. */
export const CAPABILITIES: readonly Capability[] = [
  { name: "lookup", promises: lookupPromises },
  { name: "charging", promises: chargingPromises },
];
