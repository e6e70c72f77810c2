/** Whether a value is a byte array, also one of another realm: some test environments have their own `Uint8Array`. */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** Whether two byte strings are equal, in a time that depends only on their lengths. */
export function doesMatchBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < left.length; index += 1)
    difference |= (left[index] as number) ^ (right[index] as number);
  return difference === 0;
}

/** Joins texts, each after its length in bytes (32 bits, big endian), so that no two different lists give the same bytes. */
export function encodeLengthPrefixed(texts: readonly string[]): Uint8Array {
  const encoded = texts.map((text) => new TextEncoder().encode(text));
  const joined = new Uint8Array(encoded.reduce((total, bytes) => total + 4 + bytes.length, 0));
  const view = new DataView(joined.buffer);
  let offset = 0;
  for (const bytes of encoded) {
    view.setUint32(offset, bytes.length);
    joined.set(bytes, offset + 4);
    offset += 4 + bytes.length;
  }
  return joined;
}

/** The bytes of a text with one character per byte. */
export function bytesOfBinary(binary: string): Uint8Array {
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Encodes bytes as base64url without padding (RFC 4648 §5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return encodeBinary(binary);
}

/** Decodes base64url without padding; null for a text that {@link encodeBase64Url} would not write: each byte string has one text. */
export function decodeBase64Url(text: string): Uint8Array | null {
  const binary = decodeBinary(text);
  return binary === null ? null : bytesOfBinary(binary);
}

/** {@link encodeBase64Url} of a text with one character per byte, such as ASCII. */
export function encodeBinary(binary: string): string {
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** {@link decodeBase64Url} to a text with one character per byte. */
export function decodeBinary(text: string): string | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return encodeBinary(binary) === text ? binary : null;
}
