/** Whether a value is a whole number from 0 to 2^53 − 1. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Parses such a number, which may be a string of digits; null for anything else. */
export function parseWhole(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return isWhole(number) ? number : null;
}

/** The quotient of two whole numbers, rounded up. Exact up to 2^53 − 1, unlike a division that is rounded afterwards. */
export function ceilDiv(dividend: number, divisor: number): number {
  const rest = dividend % divisor;
  return (dividend - rest) / divisor + (rest > 0 ? 1 : 0);
}
