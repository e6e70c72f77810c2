import { BITS_PER_BASE58_CHARACTER, decodeBase58, encodeBase58 } from "../lib/base58.js";
import {
  BYTE_LENGTH,
  CHECKSUM_LENGTH,
  PREFIX_PATTERN,
  secretShape,
  splitSecret,
  VERSION,
} from "./format.js";

/** Bits that must stay unknown when the start of a secret is shown (NIST SP 800-63B, look-up secrets). */
const MIN_UNKNOWN_BITS = 112;

/** Most random characters that are shown. */
const MAX_SHOWN_CHARACTERS = 4;

/** Longest start of a secret, in characters: an import may give one of this length, and all others are shorter. */
export const MAX_START_LENGTH = 32;

/**
 * The part of a secret that may be stored and shown: prefix, `_` and the first characters of the body, leaving at least 112 bits unknown.
 * It shows two random characters of 16 bytes, four from 17 bytes on.
 *
 * @param secret - A secret written by {@link formatSecret}.
 * @param byteLength - Number of its random bytes, if known.
 */
export function secretStart(secret: string, byteLength: number = byteLengthOf(secret)): string {
  const { prefix, body } = splitSecret(secret);
  const shown = body.slice(0, shownBodies(byteLength).lowest.length);
  return prefix === "" ? shown : `${prefix}_${shown}`;
}

function byteLengthOf(secret: string): number {
  return decodeBase58(splitSecret(secret).body)?.[1] ?? BYTE_LENGTH.min;
}

/** The lowest and the highest characters that bodies of this length can show. Texts of the same length sort like the numbers in them. */
export function shownBodies(byteLength: number): {
  readonly lowest: string;
  readonly highest: string;
} {
  const known = shownBodiesByLength.get(byteLength);
  if (known !== undefined) return known;
  const tail = byteLength + CHECKSUM_LENGTH;
  const lowest = encodeBase58(Uint8Array.of(VERSION, byteLength, ...new Uint8Array(tail)));
  const highest = encodeBase58(
    Uint8Array.of(VERSION, byteLength, ...new Uint8Array(tail).fill(255)),
  );
  let shown = 0;
  while (lowest.length === highest.length && lowest[shown] === highest[shown]) shown += 1;
  const spareBits = 8 * byteLength - MIN_UNKNOWN_BITS;
  shown += Math.min(MAX_SHOWN_CHARACTERS, Math.floor(spareBits / BITS_PER_BASE58_CHARACTER));
  const range = { lowest: lowest.slice(0, shown), highest: highest.slice(0, shown) };
  shownBodiesByLength.set(byteLength, range);
  return range;
}

/** At most 240 entries, one for each length: the encoding of long bodies is too expensive to repeat for every key. */
const shownBodiesByLength = new Map<number, ReturnType<typeof shownBodies>>();

/**
 * The part of an imported secret that may be stored and shown. For latchkey's own format, it is the usual start. Otherwise it is the
 * prefix, if there is one, and at most four characters, leaving 112 bits unknown. If the rest after the prefix has fewer bits, nothing is
 * shown, because what looks like a prefix may be part of the secret.
 */
export function importedStart(secret: string): string {
  if (secretShape(secret) === "intact") return secretStart(secret);
  const { prefix } = splitSecret(secret);
  const prefixLength = PREFIX_PATTERN.test(prefix) ? prefix.length + 1 : 0;
  for (let shown = MAX_SHOWN_CHARACTERS; shown >= 0; shown -= 1) {
    const start = secret.slice(0, prefixLength + shown);
    if (hidesEnough(secret, start)) return start;
  }
  return "";
}

/** Whether a beginning of a secret may be stored: 112 bits stay unknown after it, or it is a prefix with its `_`. */
export function canShowStart(secret: string, start: string): boolean {
  if (!secret.startsWith(start) || start.length === secret.length) return false;
  const isPrefix = start === "" || (start.endsWith("_") && PREFIX_PATTERN.test(start.slice(0, -1)));
  return isPrefix || hidesEnough(secret, start);
}

function hidesEnough(secret: string, start: string): boolean {
  const hidden = secret.slice(start.length);
  return hidden.length * bitsPerCharacter(hidden) >= MIN_UNKNOWN_BITS;
}

/** Bits that a character of random text carries at least, judging by the smallest usual alphabet that contains its letters. */
function bitsPerCharacter(text: string): number {
  if (/[a-z]/.test(text) && /[A-Z]/.test(text)) return Math.log2(52);
  if (/[g-zG-Z]/.test(text)) return Math.log2(26);
  return /[a-fA-F]/.test(text) ? 4 : Math.log2(10);
}

/**
 * The format of a secret, from its stored start, to generate another one in the same format.
 *
 * The prefix, empty for none, is the part before the last `_`, if that can be a prefix. The number of random bytes is encoded in the first
 * characters of the body; if these fit two lengths, as for some secrets of 136 to 145 bytes, it is the shorter one. The start of a foreign
 * secret fits no length: then it is the default.
 */
export function secretForm(start: string) {
  const { prefix, body } = splitSecret(start);
  return {
    prefix: PREFIX_PATTERN.test(prefix) ? prefix : "",
    byteLength: byteLengthShown(body) ?? BYTE_LENGTH.default,
  };
}

function byteLengthShown(shown: string): number | null {
  for (let length: number = BYTE_LENGTH.min; length <= BYTE_LENGTH.max; length += 1) {
    const { lowest, highest } = shownBodies(length);
    if (shown.length === lowest.length && lowest <= shown && shown <= highest) return length;
  }
  return null;
}
