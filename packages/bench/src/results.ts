import { readFileSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg, platform } from "node:os";
import type { Measurement } from "./measure/measurement.js";

/** A measurement, with when and how it was made. */
export interface DatedMeasurement extends Measurement {
  /** Of the end of its measuring: a date in UTC. */
  readonly at: string;
  /** How many programs the machine was busy with on average in the minute before, ours among them. */
  readonly load: number;
  readonly machine: string;
}

/** Says when and where a measurement was made, and shortens its samples to what they are worth. */
export function dated(measurement: Measurement): DatedMeasurement {
  const [load = 0] = loadavg();
  const sides = measurement.sides.map(({ name, samples }) => ({
    name,
    samples: samples.map((sample) => Number(sample.toPrecision(5))),
  }));
  const at = new Date().toISOString().slice(0, 10);
  return { ...measurement, sides, at, load: Number(load.toFixed(1)), machine: machine() };
}

/** The earlier measurements with the new ones in their places; what was not measured before comes last. */
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

/** Measurements in a file; none where there is no file. */
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
