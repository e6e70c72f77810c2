/** The base58 alphabet in the order of its values, which is the order of ASCII: texts of one length sort as their numbers. */
export const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Minimum and maximum random bytes of a secret. */
export const BYTE_LENGTH = { min: 16, max: 255 } as const;

/** First byte of a secret's body, and its number of non-random bytes: version, length and checksum. */
const VERSION = 2n;
const CHECKSUM_LENGTH = 4;
const OTHER_BYTES = 6;

/** Minimum and maximum characters of a body. */
export const BODY_LENGTH = {
  min: bodyRange(BYTE_LENGTH.min).lowest.length,
  max: bodyRange(BYTE_LENGTH.max).highest.length,
} as const;

/** Bits per character. */
const BITS_PER_CHARACTER = Math.log2(58);

/**
 * The lowest and the highest body of a secret with `byteLength` random bytes, whatever these and the checksum are.
 *
 * @see packages/core/decisions/0001-secret-format.md
 */
export function bodyRange(byteLength: number): {
  readonly lowest: string;
  readonly highest: string;
} {
  const tail = BigInt(8 * (byteLength + CHECKSUM_LENGTH));
  const head = (VERSION << 8n) | BigInt(byteLength);
  return { lowest: encode(head << tail), highest: encode(((head + 1n) << tail) - 1n) };
}

/** Whether a text is the body of a secret, judged by version and length; the checksum is not verified. */
export function isSecretBody(text: string): boolean {
  if (text.length < BODY_LENGTH.min || text.length > BODY_LENGTH.max) return false;
  // Version and length take a byte each, and the first of them begins with six bits of zero.
  const bytes = Math.round((text.length * BITS_PER_CHARACTER + 6) / 8);
  return [-1, 0, 1]
    .map((off) => bytes + off - OTHER_BYTES)
    .some((length) => length >= BYTE_LENGTH.min && length <= BYTE_LENGTH.max && isOf(text, length));
}

function isOf(text: string, byteLength: number): boolean {
  const range = ranges.get(byteLength) ?? bodyRange(byteLength);
  ranges.set(byteLength, range);
  return isNotAbove(range.lowest, text) && isNotAbove(text, range.highest);
}

/** Compares as numbers: a shorter text is smaller. */
function isNotAbove(one: string, other: string): boolean {
  return one.length === other.length ? one <= other : one.length < other.length;
}

/** At most 240. */
const ranges = new Map<number, ReturnType<typeof bodyRange>>();

function encode(number: bigint): string {
  let text = "";
  for (let rest = number; rest > 0n; rest /= 58n) text = BASE58[Number(rest % 58n)] + text;
  return text;
}
