import { decodeBase58, encodeBase58 } from "../lib/base58.js";
import { doesMatchBytes } from "../lib/bytes.js";
import { sha256Bytes } from "./hash.js";

/** Longest string that is considered a secret, in characters. */
export const MAX_SECRET_LENGTH = 512;

/** Random bytes of a secret: minimum, maximum and default. */
export const BYTE_LENGTH = { min: 16, max: 255, default: 16 } as const;

/** The form of a prefix: at most 16 of `A-Z a-z 0-9 _ -`, not ending in `_`. */
export const PREFIX_PATTERN = /^[A-Za-z0-9_-]{0,15}[A-Za-z0-9-]$/;

/** First byte of the body of a secret. */
export const VERSION = 2;
const HEADER_LENGTH = 2;

/** Bytes of the checksum, at the end of the body. */
export const CHECKSUM_LENGTH = 4;
const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/**
 * Classifies a presented string, without the store:
 * - `malformed`: empty, longer than {@link MAX_SECRET_LENGTH}, or not printable ASCII;
 * - `damaged`: claims to be a secret of this format and fails its checksum;
 * - `intact`: of this format, checksum right;
 * - `foreign`: any other shape, such as an imported key.
 */
export type SecretShape = "malformed" | "damaged" | "intact" | "foreign";

/**
 * Writes a secret: `<prefix>_<body>`, or `<body>` without a prefix. The body is base58 of: version byte 2,
 * length byte n, the n random bytes, and the 4 leading bytes of SHA-256 over prefix and the bytes before.
 *
 * @param prefix - Empty for none; otherwise matches {@link PREFIX_PATTERN}.
 * @param randomBytes - 16 to 255 unpredictable bytes.
 * @see packages/core/decisions/0001-secret-format.md
 */
export function formatSecret(prefix: string, randomBytes: Uint8Array): string {
  const bytes = new Uint8Array(HEADER_LENGTH + randomBytes.length + CHECKSUM_LENGTH);
  bytes[0] = VERSION;
  bytes[1] = randomBytes.length;
  bytes.set(randomBytes, HEADER_LENGTH);
  bytes.set(checksum(prefix, bytes), bytes.length - CHECKSUM_LENGTH);
  const body = encodeBase58(bytes);
  return prefix === "" ? body : `${prefix}_${body}`;
}

export function secretShape(secret: string): SecretShape {
  if (secret.length > MAX_SECRET_LENGTH || !PRINTABLE_ASCII.test(secret)) return "malformed";
  const { prefix, body } = splitSecret(secret);
  const bytes = decodeBase58(body);
  if (bytes === null || !isOurPayload(bytes)) return "foreign";
  return doesMatchBytes(checksum(prefix, bytes), bytes.subarray(-CHECKSUM_LENGTH))
    ? "intact"
    : "damaged";
}

/** Whether a text may be the secret of a key, as far as it says itself. No store is asked for any other. */
export function canBeSecret(text: string): boolean {
  const shape = secretShape(text);
  return shape !== "malformed" && shape !== "damaged";
}

/** The part before the last `_`, empty if there is none, and the part after it. */
export function splitSecret(secret: string): { readonly prefix: string; readonly body: string } {
  const separator = secret.lastIndexOf("_");
  if (separator === -1) return { prefix: "", body: secret };
  return { prefix: secret.slice(0, separator), body: secret.slice(separator + 1) };
}

function isOurPayload(bytes: Uint8Array): boolean {
  const byteLength = bytes.length - HEADER_LENGTH - CHECKSUM_LENGTH;
  return byteLength >= BYTE_LENGTH.min && bytes[0] === VERSION && bytes[1] === byteLength;
}

/** `bytes`: the body, with room for the checksum, which the checksum does not cover. */
function checksum(prefix: string, bytes: Uint8Array): Uint8Array {
  const covered = new Uint8Array(prefix.length + bytes.length - CHECKSUM_LENGTH);
  // ASCII: one byte a character.
  for (let at = 0; at < prefix.length; at += 1) covered[at] = prefix.charCodeAt(at);
  for (let at = prefix.length; at < covered.length; at += 1)
    covered[at] = bytes[at - prefix.length] as number;
  return sha256Bytes(covered).subarray(0, CHECKSUM_LENGTH);
}
