import {
  corruptRecord,
  type DueRefill,
  type Expectation,
  isWhole,
  parseWhole,
  type RecordKind,
  readUsage,
  type Usage,
} from "@latchkey/core";

/** The reply of a script, as a list. */
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

/** Parses the text of {@link usageText}, with the totals of holds after it; undefined for any other text. */
export function parseUsage(text: string): Usage | undefined {
  const words: (string | null)[] = text.split(" ", 3).map((word) => (word === "-" ? null : word));
  if (text.includes(" =")) words[3] = / =\d+\/(\S*)/.exec(text)?.[1] ?? "";
  return readUsage(words);
}

/** A refill as apply-refill.lua takes it. One that carries over and is not counted yet adds nothing. */
export function refillText(refill: DueRefill | null): string {
  if (refill === null || refill.carry?.since === null) return "- - - -";
  const { amount, dueAt, carry } = refill;
  return [amount, dueAt, carry?.units ?? null, carry?.since ?? null].map(orDash).join(" ");
}

/** The letter of a kind whose records something may be held beside, as in hold-sums.lua. */
export function holderLetter(kind: RecordKind): string {
  if (kind === "key" || kind === "identity") return kind === "key" ? "k" : "i";
  throw new TypeError("units are held beside keys and identities");
}

/** As include/holds.lua takes it. */
export function expectedText({ version }: Expectation): string {
  if (version === null) return "-";
  return version === "exists" ? "*" : `${digits(version)} `;
}

/** Stands for absent values in scripts. */
export function orDash(value: number | null): string {
  return value === null ? "-" : digits(value);
}
