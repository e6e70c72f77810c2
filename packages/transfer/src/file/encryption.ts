import type { Readable } from "node:stream";
import { Readable as NodeReadable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { unusable } from "./line.js";

/**
 * For whom a backup is encrypted: whoever knows a passphrase, or holds the identity of a recipient (`age1…`). `workFactor`: how much
 * work each guess at the passphrase is, as a power of two, 18 unless given, which takes a second or two.
 */
export type Encryption =
  | { readonly passphrase: string; readonly workFactor?: number }
  | { readonly recipients: readonly string[] };

/** What opens an encrypted backup: its passphrase, or an identity (`AGE-SECRET-KEY-1…`). */
export type Decryption = { readonly passphrase: string } | { readonly identity: string };

/** What every file of age begins with: https://age-encryption.org/v1 */
export const AGE_MAGIC = "age-encryption.org/";

/**
 * Checks what somebody gave, before anything is opened for it.
 *
 * @throws TypeError naming the recipient or the identity that is none. What age says of it might repeat it.
 */
export async function assertKeys(given: Encryption | Decryption | undefined): Promise<void> {
  if (given === undefined || "passphrase" in given) return;
  const { Decrypter, Encrypter } = await import("age-encryption");
  if ("identity" in given)
    asArgument("identity", "an identity of age: AGE-SECRET-KEY-1…", () =>
      new Decrypter().addIdentity(given.identity),
    );
  else
    for (const [at, recipient] of given.recipients.entries())
      asArgument(`recipients.${at}`, "a recipient of age: age1…", () =>
        new Encrypter().addRecipient(recipient),
      );
}

function asArgument(name: string, wanted: string, give: () => void): void {
  try {
    give();
  } catch {
    throw new TypeError(`"${name}" must be ${wanted}`);
  }
}

/** The bytes of a file of age. The library is loaded now and not before. */
export async function encrypted(plain: Readable, encryption: Encryption): Promise<Readable> {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  if ("passphrase" in encryption) {
    encrypter.setPassphrase(encryption.passphrase);
    if (encryption.workFactor !== undefined) encrypter.setScryptWorkFactor(encryption.workFactor);
  } else for (const recipient of encryption.recipients) encrypter.addRecipient(recipient);
  const stream = NodeReadable.toWeb(plain) as unknown as globalThis.ReadableStream<Uint8Array>;
  return fromWeb(await encrypter.encrypt(stream));
}

/** The bytes that were encrypted. @throws LatchkeyError where nothing that was given opens it. */
export async function decrypted(
  cipher: Readable,
  decryption: Decryption | undefined,
): Promise<Readable> {
  if (decryption === undefined)
    throw unusable("it is encrypted: give its passphrase, or an identity");
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  if ("passphrase" in decryption) decrypter.addPassphrase(decryption.passphrase);
  else decrypter.addIdentity(decryption.identity);
  const stream = NodeReadable.toWeb(cipher) as unknown as globalThis.ReadableStream<Uint8Array>;
  try {
    return fromWeb(await decrypter.decrypt(stream));
  } catch (error) {
    throw unusable("nothing that was given opens it, or its beginning is damaged", error);
  }
}

function fromWeb(stream: globalThis.ReadableStream<Uint8Array>): Readable {
  return NodeReadable.fromWeb(stream as unknown as ReadableStream<Uint8Array>);
}
