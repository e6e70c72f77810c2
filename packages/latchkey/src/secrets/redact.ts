import { secretStart } from "@latchkey/core";
import { BASE58, BODY_LENGTH, isSecretBody } from "./secret-body.js";

/** Options of {@link redact}. */
export interface RedactOptions {
  /**
   * Prefixes of imported keys: 12 or more characters of `A-Z a-z 0-9 + / = . _ -` after one are a secret too. Keys that latchkey made are
   * found without.
   */
  readonly prefixes?: readonly string[];
}

/** Replaces the rest of a secret. */
const CUT = "…";

const HEX = "[0-9A-Fa-f]";

/**
 * Escapes that end in a letter or digit: terminal colours, however the character before their bracket is written (syslog daemons write
 * `#033`); escapes of JSON and programming languages; those of URLs, encoded once or more, and of mail. Their last characters do not
 * belong to the secret after them.
 */
const ESCAPES = [
  String.raw`(?:\[|\u{9b}|%(?:25){0,8}5[bB])[0-9;]{0,20}[A-Za-z]`,
  String.raw`\\u${HEX}{4}`,
  String.raw`\\U${HEX}{8}`,
  String.raw`\\x${HEX}{2}`,
  String.raw`\\[0-7]{3}`,
  String.raw`\\[abefnrtv]`,
  `[%=](?:25){0,8}${HEX}{2}`,
  `%u${HEX}{4}`,
];

const LETTER_CLASS = "[1-9A-HJ-NP-Za-km-z]";

const LETTERS = new Set(Array.from(BASE58, (letter) => letter.charCodeAt(0)));
const isLetter = (text: string, at: number) => LETTERS.has(text.charCodeAt(at));

/** Letters that may be the body of a secret, after an escape. */
const RUNS = new RegExp(`(${ESCAPES.join("|")}|)(${LETTER_CLASS}{${BODY_LENGTH.min},})`, "gu");

/**
 * Shortens the secrets in a text, such as a log line, to the start that lists of keys show, and `…`. Secrets that latchkey made are found
 * by their shape, even with a wrong checksum, because a mistyped secret is almost one.
 *
 * @throws TypeError naming the argument if the text is no string, the prefixes are no list, or there is another option.
 * @example
 * redact("key=pay_live_ZUUaq9NgA2QyuEqiaE7LS7SXY9juh"); // "key=pay_live_ZUUa…"
 */
export function redact(text: string, options: RedactOptions = {}): string {
  const { prefixes = [] } = options;
  if (typeof text !== "string") throw new TypeError('"text" must be a string');
  if (!Array.isArray(prefixes as unknown))
    throw new TypeError('"prefixes" must be a list of strings');
  // With a misspelt option, imported keys would stay in the text.
  const unknown = Object.keys(options).find((name) => name !== "prefixes");
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option of redact`);
  let known = "";
  let rest = 0;
  for (const { at, body } of secretBodies(text)) {
    known += text.slice(rest, at) + secretStart(body) + CUT;
    rest = at + body.length;
  }
  known += text.slice(rest);
  return prefixes.reduce(
    (line, prefix) => line.replace(ofPrefix(prefix), (_, start: string) => `${start}${CUT}`),
    known,
  );
}

/** Text in the form of a secret's body, and where it starts. */
export function* secretBodies(
  text: string,
): Generator<{ readonly at: number; readonly body: string }> {
  if (!hasLongRun(text)) return;
  // What looks like the end of an escape may be the first letters of a secret, as in `=3D…`.
  for (const { 1: front = "", 2: letters = "", index } of text.matchAll(RUNS))
    for (let at = front.length; at >= 0; at -= 1) {
      const body = front.slice(at) + letters;
      if (isSecretBody(body)) {
        yield { at: index + at, body };
        break;
      }
      if (!isLetter(front, at - 1)) break;
    }
}

/**
 * Whether a text has as many letters in a row as the shortest body. It looks only at every 29th character, because a row that long
 * contains one of these. A log line without secrets takes 5 ns per character; with the pattern alone, 40.
 */
function hasLongRun(text: string): boolean {
  const { min } = BODY_LENGTH;
  for (let at = min - 1; at < text.length; at += min) {
    if (!isLetter(text, at)) continue;
    let start = at;
    while (at - start < min && isLetter(text, start - 1)) start -= 1;
    let end = at + 1;
    while (end - start < min && isLetter(text, end)) end += 1;
    if (end - start >= min) return true;
  }
  return false;
}

/** `+`, `/` and `=` as URLs and JSON may have them. */
const ESCAPED_SIGNS = String.raw`%(?:2[BbFf]|3[Dd])|\\u00(?:2[BbFf]|3[Dd])|\\/`;

/** A secret of any form after a prefix. Redacted ones have too few characters before their `…`. */
export function ofPrefix(prefix: string): RegExp {
  const escaped = prefix.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  return new RegExp(`(${escaped}_?)(?:[A-Za-z0-9+/=._-]|${ESCAPED_SIGNS}){12,}`, "g");
}
