import { decodeBase64Url, encodeBase64Url } from "../lib/bytes.js";
import type { SecretHash } from "./hash.js";

/** Encodings of an imported SHA-256. */
export const HASH_VARIANTS = ["sha256_base64", "sha256_base64url", "sha256_hex"] as const;

export type HashVariant = (typeof HASH_VARIANTS)[number];

const FORMS: Readonly<Record<HashVariant, RegExp>> = {
  sha256_base64: /^[A-Za-z0-9+/]{43}=$/,
  sha256_base64url: /^[A-Za-z0-9_-]{43}$/,
  sha256_hex: /^[0-9A-Fa-f]{64}$/,
};

/**
 * A hash of another system in latchkey's form without a pepper, or null if it is not in the form of its variant: `sha256_base64` is 44
 * characters with their padding (RFC 4648 section 4), `sha256_base64url` 43 without (section 5), `sha256_hex` 64 digits, upper or lower
 * case. Except for the case of digits, each hash has only one text per variant.
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
  // The last character carries two bits without meaning. If they are not zeros, nothing is decoded.
  return decodeBase64Url(wanted) === null ? null : wanted;
}
