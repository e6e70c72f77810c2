import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { corruptRecord, LatchkeyError, unmet } from "../errors.js";
import { decodeBase64Url, encodeBase64Url, encodeLengthPrefixed } from "../lib/bytes.js";
import type { RandomBytes } from "../lib/id.js";
import { copyKeyRing, type KeyRing } from "./key-ring.js";

/** An encrypted secret: `v1.<vault key id>.<base64url of nonce and ciphertext>`. */
export type SealedSecret = string;

/** The key that an encrypted secret belongs to. It opens for no other. */
export interface SealedFor {
  readonly workspaceId: string;
  readonly keyId: string;
}

/** Seals and opens recoverable secrets. */
export type Vault = ReturnType<typeof createVault>;

const FORMAT = "v1";
const NONCE_LENGTH = 24;

/**
 * Makes a vault: XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with a random 24-byte nonce. Format version, workspace, key id and vault
 * key id are authenticated, each with its length, so that a ciphertext opens for no other row and no other vault key.
 *
 * @throws TypeError for a malformed ring: each key has exactly 32 random bytes.
 */
export function createVault(ring: KeyRing, random: RandomBytes) {
  const keys = copyKeyRing("vault", ring, { minBytes: 32, maxBytes: 32 });
  const currentId = ring.current;
  const cipher = (vaultKeyId: string, vaultKey: Uint8Array, nonce: Uint8Array, row: SealedFor) =>
    xchacha20poly1305(
      vaultKey,
      nonce,
      encodeLengthPrefixed([FORMAT, row.workspaceId, row.keyId, vaultKeyId]),
    );

  return {
    seal(secret: string, row: SealedFor): SealedSecret {
      const nonce = random(NONCE_LENGTH);
      const box = cipher(currentId, keys.get(currentId) as Uint8Array, nonce, row).encrypt(
        new TextEncoder().encode(secret),
      );
      return `${FORMAT}.${currentId}.${encodeBase64Url(Uint8Array.of(...nonce, ...box))}`;
    },
    /** @throws LatchkeyError `STORE_CORRUPT` for a text that was changed or moved, `PRECONDITION_FAILED` if its key left the ring. */
    open(sealed: SealedSecret, row: SealedFor): string {
      const [format, vaultKeyId = "", encoded, ...rest] = sealed.split(".");
      const bytes = encoded === undefined ? null : decodeBase64Url(encoded);
      if (format !== FORMAT || bytes === null || rest.length > 0)
        throw corruptRecord(`encrypted secret of ${row.keyId}`);
      const vaultKey = keys.get(vaultKeyId);
      if (vaultKey === undefined)
        throw unmet(
          "vault-key-missing",
          `the vault key that the secret of ${row.keyId} was sealed with is not configured`,
        );
      try {
        const nonce = bytes.subarray(0, NONCE_LENGTH);
        return new TextDecoder().decode(
          cipher(vaultKeyId, vaultKey, nonce, row).decrypt(bytes.subarray(NONCE_LENGTH)),
        );
      } catch {
        // The cipher's own error adds nothing, and must not carry bytes of the secret anywhere. It cannot tell the two causes apart.
        throw new LatchkeyError(
          "STORE_CORRUPT",
          `the vault key does not decrypt the secret of ${row.keyId}: it is a different key with the same id, or the secret is damaged`,
        );
      }
    },
    /** Whether the text was sealed with the ring's current key. */
    isCurrent: (sealed: SealedSecret): boolean => sealed.startsWith(`${FORMAT}.${currentId}.`),
  };
}
