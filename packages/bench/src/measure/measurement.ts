/** What the samples of a measurement count. */
export type Unit = "µs" | "ms" | "bytes" | "trips" | "admitted";

/** One side of a measurement. */
export interface SideSamples {
  readonly name: string;
  /** One a round, in the unit of the measurement. */
  readonly samples: readonly number[];
}

/** A side that did not take part, and why. */
export interface AbsentSide {
  readonly name: string;
  readonly reason: string;
}

/** Some work, done by several sides in turn. The first is what the others are compared with. */
export interface Measurement {
  /** Slashes from the general to the special: `verify/sqlite/permission/1`. */
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  readonly sides: readonly SideSamples[];
  readonly absent?: readonly AbsentSide[];
  /** What a reader has to know beside the figures. */
  readonly notes?: readonly string[];
}
