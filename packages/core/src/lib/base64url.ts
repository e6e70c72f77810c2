/** Encodes bytes as base64url without padding (RFC 4648 §5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return encodeBinary(binary);
}

/**
 * Decodes base64url without padding, or answers null.
 *
 * Strict: a string that is not exactly what {@link encodeBase64Url} would write for the decoded bytes
 * (foreign characters, padding, stray low bits) is refused, so that no two strings mean the same bytes.
 */
export function decodeBase64Url(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  if (encodeBinary(binary) !== text) return null;
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** @param binary - A character for each byte. */
function encodeBinary(binary: string): string {
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
