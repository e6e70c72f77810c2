import type { Unit } from "../measure/measurement.js";
import type { Quartiles } from "../measure/statistics.js";

/** A number with three digits, for people: 2.41, 24.1, 241, 2,410. */
export function threeDigits(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** The median, with the quartiles around it. */
export function spread({ p25, median, p75 }: Quartiles): string {
  return `${threeDigits(median)} (${threeDigits(p25)}–${threeDigits(p75)})`;
}

/** The same with its unit; only the median if the quartiles are equal, as with a single sample. */
export function spreadWithUnit(quartiles: Quartiles, unit: Unit): string {
  const { p25, median, p75 } = quartiles;
  return p25 === p75 ? withUnit(median, unit) : `${spread(quartiles)} ${unit}`;
}

/** A value with its unit: whole numbers for bytes and counts, otherwise three digits. */
export function withUnit(value: number, unit: Unit): string {
  if (unit === "bytes") return `${Math.round(value).toLocaleString("en")} bytes`;
  if (unit === "admitted") return Math.round(value).toLocaleString("en");
  return `${threeDigits(value)} ${unit}`;
}
