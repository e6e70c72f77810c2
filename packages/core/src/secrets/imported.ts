import { decodeBase64Url, encodeBase64Url } from "../lib/base64url.js";
import {
  MIN_UNKNOWN_BITS,
  PREFIX_PATTERN,
  secretShape,
  secretStart,
  splitSecret,
} from "./format.js";
import type { SecretHash } from "./hash.js";

/** In which form another system kept the SHA-256 of a secret. */
export const HASH_VARIANTS = ["sha256_base64", "sha256_base64url", "sha256_hex"] as const;

/** One of {@link HASH_VARIANTS}. */
export type HashVariant = (typeof HASH_VARIANTS)[number];

const FORMS: Readonly<Record<HashVariant, RegExp>> = {
  sha256_base64: /^[A-Za-z0-9+/]{43}=$/,
  sha256_base64url: /^[A-Za-z0-9_-]{43}$/,
  sha256_hex: /^[0-9A-Fa-f]{64}$/,
};

/** Most characters behind the prefix of a foreign secret that are shown. */
const MAX_SHOWN_CHARACTERS = 4;

/**
 * A hash of another system in the form in which latchkey keeps hashes without a pepper, or null where it is not written
 * as its variant says: `sha256_base64` is 44 characters with their padding (RFC 4648 section 4), `sha256_base64url` 43
 * without (section 5), `sha256_hex` 64 digits, upper or lower case. No two texts of one variant but the cases of digits mean the same hash.
 */
export function importedHash(value: string, variant: HashVariant): SecretHash | null {
  if (!FORMS[variant].test(value)) return null;
  if (variant === "sha256_hex") {
    const digits = value.match(/../g) ?? [];
    return encodeBase64Url(Uint8Array.from(digits, (pair) => Number.parseInt(pair, 16)));
  }
  const wanted =
    variant === "sha256_base64"
      ? value.slice(0, -1).replaceAll("+", "-").replaceAll("/", "_")
      : value;
  const bytes = decodeBase64Url(wanted);
  // The last character carries two bits that mean nothing: only zeros are written there.
  return bytes !== null && encodeBase64Url(bytes) === wanted ? wanted : null;
}

/**
 * What may be stored and shown of a secret that is imported. Of one of latchkey's own form it is what is always shown. Of
 * any other it is the prefix, where there is one, and at most four characters, so few that 112 bits stay unknown; a
 * secret that has not that many behind its prefix shows nothing: what looks like a prefix may be part of the secret.
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

/** Whether a beginning of a secret may be stored: 112 bits stay unknown behind it, or it is a prefix with its `_`. */
export function canShowStart(secret: string, start: string): boolean {
  if (!secret.startsWith(start) || start.length === secret.length) return false;
  const isPrefix = start === "" || (start.endsWith("_") && PREFIX_PATTERN.test(start.slice(0, -1)));
  return isPrefix || hidesEnough(secret, start);
}

function hidesEnough(secret: string, start: string): boolean {
  const hidden = secret.slice(start.length);
  return hidden.length * bitsPerCharacter(hidden) >= MIN_UNKNOWN_BITS;
}

/** What a character of random text carries at least, going by the smallest usual alphabet that its letters are of. */
function bitsPerCharacter(text: string): number {
  if (/[a-z]/.test(text) && /[A-Z]/.test(text)) return Math.log2(52);
  if (/[g-zG-Z]/.test(text)) return Math.log2(26);
  return /[a-fA-F]/.test(text) ? 4 : Math.log2(10);
}
