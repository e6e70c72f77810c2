import { bytesOfBinary } from "./bytes.js";

/** Encodes bytes as base64url without padding (RFC 4648 §5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return encodeBinary(binary);
}

/**
 * Decodes base64url without padding; null for a text that {@link encodeBase64Url} would not write, so each byte string has only one text.
 */
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
