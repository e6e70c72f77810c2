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

/** The reply of a script, which must be a list. */
export function asList(answer: unknown, what: string): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  throw corruptRecord(what);
}

/**
 * A whole number from 0 to 2^53 − 1 that Redis stores as decimal digits.
 *
 * @param what - What is damaged if it is not such a number.
 * @throws LatchkeyError `STORE_CORRUPT`
 */
export function whole(value: unknown, what: string): number {
  const number = parseWhole(value);
  if (number !== null) return number;
  throw corruptRecord(what);
}

/** Decimal digits for a script. Lua would read anything but a whole number >= 0 differently. */
export function digits(value: number): string {
  if (isWhole(value)) return String(value);
  throw new TypeError("numbers of a store must be whole numbers >= 0");
}

/** `<uses left or -> <refilledAt> <lastRefillAt or ->` */
export function usageText({ remaining, refilledAt, lastRefillAt }: Usage): string {
  return `${orDash(remaining)} ${digits(refilledAt)} ${orDash(lastRefillAt)}`;
}

/** Parses the text of {@link usageText}, with the totals of holds after it, if any; undefined for any other text. */
export function parseUsage(text: string): Usage | undefined {
  const words: (string | null)[] = text.split(" ", 3).map((word) => (word === "-" ? null : word));
  if (text.includes(" =")) words[3] = / =\d+\/(\S*)/.exec(text)?.[1] ?? "";
  return readUsage(words);
}

/** A refill in the form of apply-refill.lua. One that carries over and is not counted yet adds nothing. */
export function refillText(refill: DueRefill | null): string {
  if (refill === null || refill.carry?.since === null) return "- - - -";
  const { amount, dueAt, carry } = refill;
  return [amount, dueAt, carry?.units ?? null, carry?.since ?? null].map(orDash).join(" ");
}

/** The letter of a kind whose records can have holds, as in hold-sums.lua. */
export function holderLetter(kind: RecordKind): string {
  if (kind === "key" || kind === "identity") return kind === "key" ? "k" : "i";
  throw new TypeError("units are held beside keys and identities");
}

/** An expectation in the form of include/holds.lua. */
export function expectedText({ version }: Expectation): string {
  if (version === null) return "-";
  return version === "exists" ? "*" : `${digits(version)} `;
}

/** Absent values are `-` in scripts. */
export function orDash(value: number | null): string {
  return value === null ? "-" : digits(value);
}
