/**
 * Base58 with the Bitcoin alphabet: no `0`, `O`, `I` or `l`, so that a secret survives being read aloud.
 * Its characters are in ASCII order, so that equal-length encodings sort as the numbers they stand for.
 */
export const BASE58_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Bits that one base58 character can carry: log2(58). */
export const BITS_PER_BASE58_CHARACTER: number = Math.log2(58);

const DIGIT_BY_CHARACTER: ReadonlyMap<string, number> = new Map(
  Array.from(BASE58_ALPHABET, (character, digit) => [character, digit]),
);

/** Encodes bytes; each leading zero byte becomes one leading `1`. */
export function encodeBase58(bytes: Uint8Array): string {
  const digits = convertBase(bytes, 256, 58);
  let text = "1".repeat(countLeadingZeros(bytes));
  for (const digit of digits) text += BASE58_ALPHABET[digit];
  return text;
}

/** Decodes what {@link encodeBase58} wrote, or answers null when a character is not of the alphabet. */
export function decodeBase58(text: string): Uint8Array | null {
  const digits: number[] = [];
  for (const character of text) {
    const digit = DIGIT_BY_CHARACTER.get(character);
    if (digit === undefined) return null;
    digits.push(digit);
  }
  const zeros = countLeadingZeros(digits);
  const tail = convertBase(digits, 58, 256);
  const bytes = new Uint8Array(zeros + tail.length);
  bytes.set(tail, zeros);
  return bytes;
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

function countLeadingZeros(digits: ArrayLike<number>): number {
  let zeros = 0;
  while (zeros < digits.length && digits[zeros] === 0) zeros += 1;
  return zeros;
}

/** Schoolbook base conversion, most significant digit first, without leading zeros. */
function convertBase(digits: ArrayLike<number>, from: number, to: number): number[] {
  const reversed: number[] = [];
  for (let index = 0; index < digits.length; index += 1) {
    let carry = digits[index] as number;
    for (let place = 0; place < reversed.length; place += 1) {
      carry += (reversed[place] as number) * from;
      reversed[place] = carry % to;
      carry = Math.floor(carry / to);
    }
    while (carry > 0) {
      reversed.push(carry % to);
      carry = Math.floor(carry / to);
    }
  }
  return reversed.reverse();
}
