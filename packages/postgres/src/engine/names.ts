import { hash } from "node:crypto";

/** An entry of an index has to fit on a third of a page. */
const LONGEST_BYTES = 1_024;

/**
 * What is stored of any text, as bytes in hexadecimal: a column of text holds neither the character 0 nor lone surrogates. The
 * first byte tells the forms apart. A digest in base64url, as which the hashes of keys come, is kept as its 32 bytes. Empty where there
 * is no text: of an entry that is in no small list.
 */
export function storedText(text: string | undefined): string {
  if (text === undefined) return "";
  if (text.length === 43 && /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text))
    return `00${Buffer.from(text, "base64url").toString("hex")}`;
  const bytes = Buffer.from(text, text.isWellFormed() ? "utf8" : "utf16le");
  if (bytes.length > LONGEST_BYTES) return `03${hash("sha256", bytes, "hex")}`;
  return `${text.isWellFormed() ? "01" : "02"}${bytes.toString("hex")}`;
}

/** A version that is expected, as the functions of the database take it: -1 for no record, -2 for any version. */
export function versionCode(version: number | "exists" | null): number {
  if (version === null) return -1;
  return version === "exists" ? -2 : version;
}
