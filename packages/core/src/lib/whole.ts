/** Whether a value is a whole number from 0 to 2^53 − 1. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
