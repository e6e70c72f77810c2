import type { StoreLocation } from "../fixture/stores.js";
import type { Measurement } from "../measure/measurement.js";
import type { Scale } from "../scale.js";

/** Where and at what scale work runs. */
export interface WorkContext {
  readonly location: StoreLocation;
  readonly scale: Scale;
}

/** Work that is measured in its own process. It throws if an answer was wrong. */
export type Work = (context: WorkContext) => Promise<readonly Measurement[]>;
