/**
 * Base58 with the Bitcoin alphabet: no `0`, `O`, `I` or `l`, so that a secret survives being read aloud.
 * Its characters are in ASCII order, so that equal-length encodings sort as the numbers they stand for.
 */
export const BASE58_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Bits that one base58 character can carry: log2(58). */
export const BITS_PER_BASE58_CHARACTER: number = Math.log2(58);

const NO_DIGIT = 255;

/** By the code of a character. */
const DIGITS: Uint8Array = new Uint8Array(128).fill(NO_DIGIT);
for (const [digit, character] of [...BASE58_ALPHABET].entries())
  DIGITS[character.charCodeAt(0)] = digit;

/** Encodes bytes; each leading zero byte becomes one leading `1`. */
export function encodeBase58(bytes: Uint8Array): string {
  // Least significant digit first. No byte takes more than two digits.
  const digits = new Uint8Array(2 * bytes.length);
  let length = 0;
  for (const byte of bytes) {
    let carry = byte;
    for (let place = 0; place < length; place += 1) {
      carry += (digits[place] as number) * 256;
      digits[place] = carry % 58;
      carry = Math.floor(carry / 58);
    }
    for (; carry > 0; carry = Math.floor(carry / 58)) digits[length++] = carry % 58;
  }
  let text = BASE58_ALPHABET.charAt(0).repeat(countLeading(bytes.length, (at) => bytes[at] === 0));
  while (length > 0) text += BASE58_ALPHABET.charAt(digits[--length] as number);
  return text;
}

/** Decodes what {@link encodeBase58} wrote, or answers null when a character is not of the alphabet. */
export function decodeBase58(text: string): Uint8Array | null {
  // Least significant byte first. No digit takes more than one byte.
  const bytes = new Uint8Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    let carry = DIGITS[text.charCodeAt(index)] ?? NO_DIGIT;
    if (carry === NO_DIGIT) return null;
    for (let place = 0; place < length; place += 1) {
      carry += (bytes[place] as number) * 58;
      bytes[place] = carry;
      carry >>>= 8;
    }
    if (carry > 0) bytes[length++] = carry;
  }
  const zero = BASE58_ALPHABET.charAt(0);
  const zeros = countLeading(text.length, (at) => text.charAt(at) === zero);
  const decoded = new Uint8Array(zeros + length);
  decoded.set(bytes.subarray(0, length).reverse(), zeros);
  return decoded;
}

/** A non-negative whole number as exactly `width` base58 characters, most significant first. */
export function encodeFixedWidth(value: number, width: number): string {
  let text = "";
  let rest = value;
  for (let place = 0; place < width; place += 1) {
    text = BASE58_ALPHABET.charAt(rest % 58) + text;
    rest = Math.floor(rest / 58);
  }
  return text;
}

function countLeading(length: number, isZero: (at: number) => boolean): number {
  let zeros = 0;
  while (zeros < length && isZero(zeros)) zeros += 1;
  return zeros;
}
