import { BASE58, BODY_LENGTH, bodyRange } from "./secret-body.js";

/** Which scanner a rule is written for. */
export const RULE_FORMATS = ["gitleaks", "regex", "github"] as const;

/** One of {@link RULE_FORMATS}. */
export type RuleFormat = (typeof RULE_FORMATS)[number];

/** Which keys a rule finds. */
export interface RuleSubject {
  readonly prefix: string;
  /** Random bytes of the secrets; null for any number, with a less exact pattern. */
  readonly byteLength: number | null;
}

/** Characters of secrets: next to a secret, one of them would make it a different text. */
const SECRET_CHARACTER = "0-9A-Za-z_-";

const ANY_CHARACTER = "[1-9A-HJ-NP-Za-km-z]";

/** Leading characters that the pattern restricts exactly. More would make it longer and hardly stricter. */
const EXACT_CHARACTERS = 3;

/** A rule for a secret scanner that finds every key with a prefix. */
export function scannerRule(subject: RuleSubject, format: RuleFormat): string {
  const pattern = `${subject.prefix}_${bodyPattern(subject.byteLength)}`;
  switch (format) {
    case "regex":
      return `(?<![${SECRET_CHARACTER}])${pattern}(?![${SECRET_CHARACTER}])`;
    case "github":
      return [
        `Secret format: ${pattern}`,
        `Before secret: \\A|[^${SECRET_CHARACTER}]`,
        `After secret: \\z|[^${SECRET_CHARACTER}]`,
      ].join("\n");
    case "gitleaks":
      // Its regular expressions have no lookahead or lookbehind: the secret is the group.
      return [
        "[[rules]]",
        `id = "latchkey-${subject.prefix.toLowerCase().replaceAll("_", "-")}"`,
        `description = "latchkey API key with the prefix ${subject.prefix}"`,
        `regex = '''(?:^|[^${SECRET_CHARACTER}])(${pattern})(?:[^${SECRET_CHARACTER}]|$)'''`,
        "secretGroup = 1",
        `keywords = ["${subject.prefix.toLowerCase()}_"]`,
      ].join("\n");
    default:
      return format satisfies never;
  }
}

/** A pattern of bodies: exact in length and in the leading characters, which version and length determine. */
function bodyPattern(byteLength: number | null): string {
  if (byteLength === null) return `${ANY_CHARACTER}{${BODY_LENGTH.min},${BODY_LENGTH.max}}`;
  const { lowest, highest } = bodyRange(byteLength);
  if (lowest.length === highest.length) return between(lowest, highest, EXACT_CHARACTERS);
  const top = "z".repeat(lowest.length);
  const bottom = `2${"1".repeat(lowest.length)}`;
  return either([
    between(lowest, top, EXACT_CHARACTERS),
    between(bottom, highest, EXACT_CHARACTERS),
  ]);
}

/** A pattern of the texts from `low` to `high`, of the same length, exact in this many characters after their common start. */
function between(low: string, high: string, exact: number): string {
  const [first = "", last = ""] = [low[0], high[0]];
  if (low === "" || exact === 0) return any(low.length);
  if (first === last) return first + between(low.slice(1), high.slice(1), exact);
  const [lowRest, highRest] = [low.slice(1), high.slice(1)];
  // If everything that follows is in the range, or no more is to be distinguished, one class is enough.
  const isOpenBelow = exact === 1 || /^1*$/.test(lowRest);
  const isOpenAbove = exact === 1 || /^z*$/.test(highRest);
  const from = isOpenBelow ? first : next(first);
  const to = isOpenAbove ? last : previous(last);
  return either([
    ...(isOpenBelow ? [] : [first + between(lowRest, "z".repeat(lowRest.length), exact - 1)]),
    ...(from <= to ? [oneOf(from, to) + any(lowRest.length)] : []),
    ...(isOpenAbove ? [] : [last + between("1".repeat(highRest.length), highRest, exact - 1)]),
  ]);
}

function any(length: number): string {
  return length === 0 ? "" : `${ANY_CHARACTER}{${length}}`;
}

function either(patterns: readonly string[]): string {
  return patterns.length === 1 ? (patterns[0] ?? "") : `(?:${patterns.join("|")})`;
}

/** A class of the characters from one to another, written as the ranges that base58 has in ASCII. */
function oneOf(from: string, to: string): string {
  const characters = BASE58.slice(BASE58.indexOf(from), BASE58.indexOf(to) + 1);
  const ranges = ["1-9", "A-H", "J-N", "P-Z", "a-k", "m-z"].flatMap((range) => {
    const inside = [...characters].filter(
      (one) => one >= range.charAt(0) && one <= range.charAt(2),
    );
    const [low, high] = [inside[0], inside.at(-1)];
    return low === undefined ? [] : [low === high ? low : `${low}-${high}`];
  });
  return `[${ranges.join("")}]`;
}

function next(character: string): string {
  return BASE58[BASE58.indexOf(character) + 1] ?? "";
}

function previous(character: string): string {
  return BASE58[BASE58.indexOf(character) - 1] ?? "";
}
