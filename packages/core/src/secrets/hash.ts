import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesOfBinary, decodeBase64Url, encodeBase64Url } from "../lib/bytes.js";
import { copyKeyRing, type KeyRing } from "./key-ring.js";

/** Hash of a secret: base64url of SHA-256 of the whole string, or `<pepper id>.` and base64url of HMAC-SHA-256 under that pepper. */
export type SecretHash = string;

/** Turns secrets into the hashes they are stored and looked up by. */
export interface SecretHasher {
  /** The hash under which a new secret is stored. */
  hash(secret: string): SecretHash;
  /**
   * Every hash under which the secret may be stored: current pepper first, then earlier ones, then without a pepper, so that adding or
   * rotating a pepper invalidates no key.
   */
  candidates(secret: string): readonly SecretHash[];
  /** The id of the pepper that this hash was made under, if it is not in the ring; otherwise null. */
  missingPepper(hash: SecretHash): string | null;
  /** The hash without a pepper. */
  plainHash(secret: string): SecretHash;
  /**
   * Marks that all imports of one secret have in common, by plaintext or by plain hash. Empty without a pepper, because then both have the
   * same hash. A mark is the plain hash under a pepper, so it reveals no more than the hash.
   */
  importMarks(plainHash: SecretHash): readonly string[];
}

/** The part of `node:crypto` that is used if the host has it: about eight times faster than JavaScript. */
interface NativeHash {
  hash(algorithm: "sha256", data: string, encoding: "base64url"): string;
  hash(algorithm: "sha256", data: Uint8Array, encoding: "latin1"): string;
}

const host = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
const crypto = host.process?.getBuiltinModule?.("node:crypto") as Partial<NativeHash> | undefined;
const nativeHash = crypto?.hash;

/** SHA-256 in JavaScript, on every host. */
export function portableSha256(text: string): SecretHash {
  return encodeBase64Url(sha256(new TextEncoder().encode(text)));
}

/** SHA-256 through the host's native one-shot function, or null without one (before Node 20.16). */
export const nativeSha256: ((text: string) => SecretHash) | null =
  nativeHash === undefined ? null : (text) => nativeHash("sha256", text, "base64url");

/** SHA-256 of a text, by the fastest way that the host has. */
export const sha256Text: (text: string) => SecretHash = nativeSha256 ?? portableSha256;

/** A digest of values, 132 bits of it, for names that differ if any of the values does. */
export function shortDigest(values: readonly unknown[]): string {
  return sha256Text(JSON.stringify(values)).slice(0, 22);
}

/** SHA-256 of bytes: 32 bytes, through the host's native one-shot function if there is one. */
export const sha256Bytes: (bytes: Uint8Array) => Uint8Array =
  // As text, because a buffer of the host takes four times as long.
  nativeHash === undefined
    ? sha256
    : (bytes) => bytesOfBinary(nativeHash("sha256", bytes, "latin1"));

/**
 * Makes a hasher.
 *
 * Secrets have at least 128 random bits, so a fast hash is right: a slow hash protects guessable inputs, and would only make it more
 * expensive to refuse junk keys.
 *
 * @param pepper - Ring of server-side secrets of 32 to 64 bytes, or null for plain SHA-256.
 * @throws TypeError for a malformed ring.
 */
export function createSecretHasher(pepper: KeyRing | null): SecretHasher {
  if (pepper === null)
    return {
      hash: sha256Text,
      candidates: (secret) => [sha256Text(secret)],
      missingPepper: pepperIdOf,
      plainHash: sha256Text,
      importMarks: () => [],
    };
  const keys = copyKeyRing("pepper", pepper, { minBytes: 32, maxBytes: 64 });
  const currentId = pepper.current;
  const ids = [currentId, ...[...keys.keys()].filter((id) => id !== currentId)];
  const peppered = (id: string, secret: string) => {
    const digest = hmac(sha256, keys.get(id) as Uint8Array, new TextEncoder().encode(secret));
    return `${id}.${encodeBase64Url(digest)}`;
  };
  return {
    hash: (secret) => peppered(currentId, secret),
    candidates: (secret) => [...ids.map((id) => peppered(id, secret)), sha256Text(secret)],
    missingPepper(hash) {
      const id = pepperIdOf(hash);
      return id !== null && keys.has(id) ? null : id;
    },
    plainHash: sha256Text,
    importMarks: (plainHash) => ids.map((id) => peppered(id, `import ${plainHash}`)),
  };
}

/** The id of the pepper that a hash was made under; null: none. */
export function pepperIdOf(hash: SecretHash): string | null {
  const dot = hash.indexOf(".");
  return dot === -1 ? null : hash.slice(0, dot);
}

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
