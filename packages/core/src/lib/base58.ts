/** Base58 with the Bitcoin alphabet, without `0`, `O`, `I` and `l`. In ASCII order, so that texts of one length sort like their numbers. */
export const BASE58_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Bits that one base58 character can carry: log2(58). */
export const BITS_PER_BASE58_CHARACTER: number = Math.log2(58);

const NO_DIGIT = 255;

/** Digit of each character code. */
const DIGITS: Uint8Array = new Uint8Array(128).fill(NO_DIGIT);
for (const [digit, character] of [...BASE58_ALPHABET].entries())
  DIGITS[character.charCodeAt(0)] = digit;

/** Digits that are computed at once, and how many numbers they can encode. */
const GROUP_WIDTH = 5;
const GROUP = 58 ** GROUP_WIDTH;

/** Encodes bytes; each leading zero byte becomes one leading `1`. */
export function encodeBase58(bytes: Uint8Array): string {
  // Groups of digits, least significant first.
  const groups: number[] = [];
  for (const byte of bytes) {
    let carry = byte;
    for (let index = 0; index < groups.length; index += 1) {
      // Far below 2^53. Not `%`: with numbers this large it makes a secret take twice as long.
      const value = (groups[index] as number) * 256 + carry;
      carry = Math.floor(value / GROUP);
      groups[index] = value - carry * GROUP;
    }
    if (carry > 0) groups.push(carry);
  }
  let digits = "";
  for (const group of groups) digits = encodeFixedWidth(group, GROUP_WIDTH) + digits;
  const zeros = countLeading(bytes.length, (at) => bytes[at] === 0);
  return BASE58_ALPHABET.charAt(0).repeat(zeros) + digits.replace(/^1+/, "");
}

/** Bytes that are decoded at once: 58 times their range fits 32 bits. */
const GROUP_BYTES = 3;

/** Decodes what {@link encodeBase58} wrote; null for any other character. */
export function decodeBase58(text: string): Uint8Array | null {
  // Groups of bytes, least significant first.
  const groups: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    let carry = DIGITS[text.charCodeAt(at)] ?? NO_DIGIT;
    if (carry === NO_DIGIT) return null;
    for (let index = 0; index < groups.length; index += 1) {
      const value = (groups[index] as number) * 58 + carry;
      groups[index] = value & 0xff_ff_ff;
      carry = value >>> 24;
    }
    if (carry > 0) groups.push(carry);
  }
  const zero = BASE58_ALPHABET.charAt(0);
  const zeros = countLeading(text.length, (at) => text.charAt(at) === zero);
  const byteAt = (index: number) =>
    ((groups[Math.floor(index / GROUP_BYTES)] as number) >>> (8 * (index % GROUP_BYTES))) & 0xff;
  let length = GROUP_BYTES * groups.length;
  while (length > 0 && byteAt(length - 1) === 0) length -= 1;
  const decoded = new Uint8Array(zeros + length);
  for (let index = 0; index < length; index += 1)
    decoded[decoded.length - 1 - index] = byteAt(index);
  return decoded;
}

/** A non-negative whole number as exactly `width` base58 characters, most significant first. */
export function encodeFixedWidth(value: number, width: number): string {
  let text = "";
  let rest = value;
  for (let index = 0; index < width; index += 1) {
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
