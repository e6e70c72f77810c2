import { createPublicKey, type KeyObject, verify } from "node:crypto";

/** `name`: what it is, for the message. @throws TypeError for anything but a public key for ECDSA on P-256. */
export function readPublicKey(pem: unknown, name: string): KeyObject {
  const refused = new TypeError(`${name} must be a public key in PEM, for ECDSA on P-256`);
  // A private key would be taken for its public half: it must not lie here.
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

/** Whether a signature, base64 of DER (RFC 3279 section 2.2.3), is that of these bytes under SHA-256. */
export function isSignedBy(key: KeyObject, bytes: Uint8Array, signature: string): boolean {
  if (!SIGNATURE.test(signature)) return false;
  try {
    return verify("sha256", bytes, { key, dsaEncoding: "der" }, Buffer.from(signature, "base64"));
  } catch {
    return false;
  }
}
