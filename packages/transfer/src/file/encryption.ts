import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { Readable as NodeReadable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { unusable } from "./line.js";

/**
 * How a backup is encrypted: with a passphrase, or for recipients (`age1…`), 1 to 100 of them. `workFactor` is the cost of each guess
 * at the passphrase, as a power of two: 1 to 20. Default: 18, which takes a second or two. A restore has the same bounds.
 */
export type Encryption =
  | { readonly passphrase: string; readonly workFactor?: number }
  | { readonly recipients: readonly string[] };

/** What opens an encrypted backup: its passphrase, or an identity (`AGE-SECRET-KEY-1…`). */
export type Decryption = { readonly passphrase: string } | { readonly identity: string };

/** How every age file starts: https://age-encryption.org/v1 */
const AGE_MAGIC = "age-encryption.org/";

/** How the last line of its header starts. */
const AGE_LAST_LINE = "\n--- ";

/** Maximum header size in bytes. The library sets none, and tries an identity on every line of the header. */
const MAX_HEADER = 262_144;

/** The highest work factor that age opens. */
const MAX_WORK_FACTOR = 20;
const MAX_RECIPIENTS = 100;

/** @throws TypeError for an encryption that no restore could open. */
export function assertOpenable(encryption: Encryption): void {
  if ("recipients" in encryption) {
    const count = encryption.recipients.length;
    if (count < 1 || count > MAX_RECIPIENTS)
      throw new TypeError(`"recipients" must be 1 to ${MAX_RECIPIENTS} age recipients`);
    return;
  }
  const { passphrase, workFactor = 1 } = encryption;
  if (passphrase === "") throw new TypeError('"passphrase" must not be empty');
  if (!Number.isInteger(workFactor) || workFactor < 1 || workFactor > MAX_WORK_FACTOR)
    throw new TypeError(`"workFactor" must be a whole number from 1 to ${MAX_WORK_FACTOR}`);
}

/**
 * Whether a file is an age file.
 *
 * @throws LatchkeyError if its header is longer than {@link MAX_HEADER}.
 */
export async function isEncrypted(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEADER), 0, MAX_HEADER, 0);
  const beginning = buffer.subarray(0, bytesRead);
  if (!beginning.subarray(0, AGE_MAGIC.length).equals(Buffer.from(AGE_MAGIC))) return false;
  if (bytesRead === MAX_HEADER && !beginning.includes(AGE_LAST_LINE))
    throw unusable(`the header of its encryption is longer than ${MAX_HEADER} bytes`);
  return true;
}

/** The two ways of each option, of which exactly one is given. */
const WAYS = {
  encryption: ["passphrase", "recipients"],
  decryption: ["passphrase", "identity"],
} as const;

/**
 * Checks a passphrase, recipients or an identity before any file is opened.
 *
 * @throws TypeError naming the argument that is invalid. age's own message is dropped, because it might repeat the value.
 */
export async function assertKeys(
  option: keyof typeof WAYS,
  given: Encryption | Decryption | undefined,
): Promise<void> {
  if (given === undefined) return;
  assertOneWay(option, given);
  if ("passphrase" in given) {
    if (typeof given.passphrase !== "string") throw new TypeError('"passphrase" must be a string');
    return;
  }
  if ("recipients" in given && !Array.isArray(given.recipients))
    throw new TypeError(`"recipients" must be 1 to ${MAX_RECIPIENTS} age recipients`);
  const { Decrypter, Encrypter } = await import("age-encryption");
  if ("identity" in given)
    asArgument("identity", "an age identity: AGE-SECRET-KEY-1…", () =>
      new Decrypter().addIdentity(given.identity),
    );
  else
    for (const [at, recipient] of given.recipients.entries())
      asArgument(`recipients.${at}`, "an age recipient: age1…", () =>
        new Encrypter().addRecipient(recipient),
      );
}

function assertOneWay(option: keyof typeof WAYS, given: object): void {
  const [one, other] = WAYS[option];
  const names = Object.keys(given).filter((name) => name !== "workFactor");
  const [way, ...more] = names;
  if ((way !== one && way !== other) || more.length > 0)
    throw new TypeError(`"${option}" must have exactly one of ${one} and ${other}`);
  if ("workFactor" in given && (option !== "encryption" || way !== "passphrase"))
    throw new TypeError('"workFactor" is only for an encryption with a passphrase');
}

function asArgument(name: string, wanted: string, give: () => void): void {
  try {
    give();
  } catch {
    throw new TypeError(`"${name}" must be ${wanted}`);
  }
}

/** The bytes of an age file. The library is loaded here, on first use. */
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

/**
 * The decrypted bytes.
 *
 * @throws LatchkeyError if the passphrase or identity does not open the file.
 */
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
    throw unusable("what was given does not decrypt it, or its beginning is damaged", error);
  }
}

function fromWeb(stream: globalThis.ReadableStream<Uint8Array>): Readable {
  return NodeReadable.fromWeb(stream as unknown as ReadableStream<Uint8Array>);
}
