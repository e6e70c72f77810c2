import { createPublicKey, type KeyObject, verify } from "node:crypto";

/** `name`: of the value, for the message. @throws TypeError for anything but a public key for ECDSA on P-256. */
export function readPublicKey(pem: unknown, name: string): KeyObject {
  const refused = new TypeError(`${name} must be a public key in PEM, for ECDSA on P-256`);
  // Node would derive the public key from a private one, which must not be here.
  if (typeof pem !== "string" || !pem.includes("BEGIN PUBLIC KEY")) throw refused;
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    throw refused;
  }
  if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw refused;
  return key;
}

/** Base64 of DER: two integers of 32 bytes and their headers are at most 72 bytes. */
const SIGNATURE = /^[A-Za-z0-9+/]{8,96}={0,2}$/;

/** Whether a signature is valid for these bytes, with SHA-256. It is the base64 of DER (RFC 3279 section 2.2.3). */
export function isSignedBy(key: KeyObject, bytes: Uint8Array, signature: string): boolean {
  if (!SIGNATURE.test(signature)) return false;
  try {
    return verify("sha256", bytes, { key, dsaEncoding: "der" }, Buffer.from(signature, "base64"));
  } catch {
    return false;
  }
}
