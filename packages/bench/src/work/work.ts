import type { StoreLocation } from "../fixture/stores.js";
import type { Measurement } from "../measure/measurement.js";
import type { Scale } from "../scale.js";

/** What some work gets to do it with. */
export interface WorkContext {
  readonly location: StoreLocation;
  readonly scale: Scale;
}

/** Some work that is measured in a process of its own. It throws where an answer was wrong. */
export type Work = (context: WorkContext) => Promise<readonly Measurement[]>;
