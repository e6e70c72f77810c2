import {
  corruptRecord,
  type Expectation,
  isWhole,
  parseWhole,
  readUsage,
  type Usage,
} from "@latchkey/core";

/** What a script answered, as the list that it is. */
export function asList(answer: unknown, what: string): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  throw corruptRecord(what);
}

/**
 * A whole number from 0 to 2^53 − 1 as Redis holds it: in decimal digits.
 *
 * @param what - What is damaged where it is none.
 * @throws LatchkeyError `STORE_CORRUPT`
 */
export function whole(value: unknown, what: string): number {
  const number = parseWhole(value);
  if (number !== null) return number;
  throw corruptRecord(what);
}

/** Decimal digits for a script. Anything but a whole number >= 0 would mean something else to Lua. */
export function digits(value: number): string {
  if (isWhole(value)) return String(value);
  throw new TypeError("numbers of a store must be whole numbers >= 0");
}

/** `<uses left or -> <refilledAt> <lastRefillAt or ->` */
export function usageText({ remaining, refilledAt, lastRefillAt }: Usage): string {
  return `${orDash(remaining)} ${digits(refilledAt)} ${orDash(lastRefillAt)}`;
}

/** What {@link usageText} made, whatever follows it; undefined where a text is something else. */
export function parseUsage(text: string): Usage | undefined {
  return readUsage(text.split(" ", 3).map((word) => (word === "-" ? null : word)));
}

/** As include/holds.lua takes it. */
export function expectedText({ version }: Expectation): string {
  if (version === null) return "-";
  return version === "exists" ? "*" : `${digits(version)} `;
}

/** What absent values are to scripts. */
export function orDash(value: number | null): string {
  return value === null ? "-" : digits(value);
}
