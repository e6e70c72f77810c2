import { readFileSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg, platform } from "node:os";
import type { Measurement } from "./measure/measurement.js";

/** A measurement, with when and how it was made. */
export interface DatedMeasurement extends Measurement {
  /** Date on which it ended, in UTC. */
  readonly at: string;
  /** Load average of the machine in the minute before the end, the benchmark included. */
  readonly load: number;
  readonly machine: string;
}

/** Adds date, load and machine to a measurement, and rounds its samples to five digits. */
export function dated(measurement: Measurement): DatedMeasurement {
  const [load = 0] = loadavg();
  const sides = measurement.sides.map(({ name, samples }) => ({
    name,
    samples: samples.map((sample) => Number(sample.toPrecision(5))),
  }));
  const at = new Date().toISOString().slice(0, 10);
  return { ...measurement, sides, at, load: Number(load.toFixed(1)), machine: machine() };
}

/** The earlier measurements, each replaced by its new version if there is one, then those that were not measured before. */
export function merged(
  earlier: readonly DatedMeasurement[],
  newer: readonly DatedMeasurement[],
): readonly DatedMeasurement[] {
  const replacing = new Map(newer.map((one) => [one.id, one]));
  const known = new Set(earlier.map(({ id }) => id));
  return [
    ...earlier.map((one) => replacing.get(one.id) ?? one),
    ...newer.filter(({ id }) => !known.has(id)),
  ];
}

/** The measurements in a file; empty if it does not exist. */
export function readResults(file: string): readonly DatedMeasurement[] {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return `${availableParallelism()} cores (${model}), ${platform()} ${arch()}, Node ${process.versions.node}`;
}
