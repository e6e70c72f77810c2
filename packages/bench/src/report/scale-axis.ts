/** A logarithmic axis: maps values to positions, and has ticks to label. */
export interface LogAxis {
  place(value: number): number;
  readonly ticks: readonly number[];
}

/**
 * An axis on which each factor takes the same space.
 *
 * @param from - Place of the smallest value. @param to - Place of the largest.
 */
export function logAxis(values: readonly number[], from: number, to: number): LogAxis {
  const low = floorTick(Math.min(...values));
  const high = ceilTick(Math.max(...values));
  const span = Math.log(high / low) || 1;
  const ticks: number[] = [];
  for (let tick = low; tick <= high * 1.001; tick = nextTick(tick)) ticks.push(tick);
  // At most eight ticks: if there are more, only the powers of ten.
  const shown = ticks.length <= 8 ? ticks : ticks.filter((tick) => isPowerOfTen(tick));
  return {
    place: (value) => from + ((to - from) * Math.log(value / low)) / span,
    ticks: shown,
  };
}

const STEPS = [1, 2, 5, 10];

function floorTick(value: number): number {
  const power = powerBelow(value);
  return Math.max(...STEPS.map((step) => step * power).filter((tick) => tick <= value * 1.000001));
}

function ceilTick(value: number): number {
  const power = powerBelow(value);
  return Math.min(...STEPS.map((step) => step * power).filter((tick) => tick >= value * 0.999999));
}

function nextTick(tick: number): number {
  const power = powerBelow(tick);
  const next = STEPS.find((step) => step * power > tick * 1.001) ?? 10;
  return next * power;
}

function powerBelow(value: number): number {
  return 10 ** Math.floor(Math.log10(value) + 1e-9);
}

function isPowerOfTen(tick: number): boolean {
  return Math.abs(tick / powerBelow(tick) - 1) < 1e-6;
}
