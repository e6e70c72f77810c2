import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesOfBinary, encodeBase64Url } from "../lib/bytes.js";
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
    plainHash: sha256Text,
    importMarks: (plainHash) => ids.map((id) => peppered(id, `import ${plainHash}`)),
  };
}
