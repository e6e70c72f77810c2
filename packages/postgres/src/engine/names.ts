import { hash } from "node:crypto";
import { isDigest } from "@latchkey/core";

/** An entry of an index must fit on a third of a page. */
const LONGEST_BYTES = 1_024;

/**
 * The stored form of any text, as bytes in hexadecimal: a text column takes neither the character 0 nor lone surrogates. The first byte
 * tells the forms apart. A digest in base64url, such as the hash of a key, is stored as its 32 bytes. Empty for no text, as in an entry
 * that is in no small list.
 */
export function storedText(text: string | undefined): string {
  if (text === undefined) return "";
  if (isDigest(text)) return `00${Buffer.from(text, "base64url").toString("hex")}`;
  const bytes = Buffer.from(text, text.isWellFormed() ? "utf8" : "utf16le");
  if (bytes.length > LONGEST_BYTES) return `03${hash("sha256", bytes, "hex")}`;
  return `${text.isWellFormed() ? "01" : "02"}${bytes.toString("hex")}`;
}

/** An expected version in the form of the database functions: -1 for no record, -2 for any version. */
export function versionCode(version: number | "exists" | null): number {
  if (version === null) return -1;
  return version === "exists" ? -2 : version;
}
