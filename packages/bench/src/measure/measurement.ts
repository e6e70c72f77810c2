/** The unit of samples. */
export type Unit = "µs" | "ms" | "bytes" | "trips" | "admitted";

/** One side of a measurement. */
export interface SideSamples {
  readonly name: string;
  /** One per round, in the unit of the measurement. */
  readonly samples: readonly number[];
}

/** A side that did not take part, and why. */
export interface AbsentSide {
  readonly name: string;
  readonly reason: string;
}

/** Samples of some work, done by several sides in turn. The first side is the base of comparison. */
export interface Measurement {
  /** Parts separated by slashes, from general to special: `verify/sqlite/permission/1`. */
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  readonly sides: readonly SideSamples[];
  readonly absent?: readonly AbsentSide[];
  /** Remarks on the figures. */
  readonly notes?: readonly string[];
}
