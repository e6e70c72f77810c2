/**
 * The quotient of two whole numbers, rounded up: exact up to 2^53 − 1, where dividing first and rounding then is not.
 *
 * @param dividend - A whole number >= 0.
 * @param divisor - A whole number >= 1.
 */
export function ceilDiv(dividend: number, divisor: number): number {
  const rest = dividend % divisor;
  return (dividend - rest) / divisor + (rest > 0 ? 1 : 0);
}
