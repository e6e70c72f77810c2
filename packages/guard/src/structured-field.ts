/** The greatest integer of a structured field: 15 digits. */
const MAX_INTEGER = 999_999_999_999_999;

/** Characters that a string of a structured field cannot contain, and the percent sign, which encodes them. */
const NOT_PRINTABLE_ASCII = /[^\x20-\x24\x26-\x7e]/gu;

/** Matches most names, which need no encoding. Testing for them takes a quarter of the time of a search for characters to encode. */
const PLAIN = /^[\w .:/-]*$/;

/** A string with parameters: one member of a list. */
export interface FieldMember {
  readonly text: string;
  /** By name, of lower-case letters. A number below 0 or of more than 15 digits becomes the nearest bound; a text must need no encoding. */
  readonly parameters: Readonly<Record<string, number | string | undefined>>;
}

/**
 * Writes a list of strings with parameters, such as `"minute";q=10;w=60, "hour";q=100;w=3600`.
 *
 * Strings contain printable ASCII only. Every other character is percent-encoded as UTF-8, and so is `%` itself, so that different texts
 * stay different.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9651#section-4.1
 */
export function writeList(members: readonly FieldMember[]): string {
  return members.map(writeMember).join(", ");
}

function writeMember({ text, parameters }: FieldMember): string {
  let written = `"${PLAIN.test(text) ? text : encoded(text)}"`;
  for (const [name, value] of Object.entries(parameters))
    if (typeof value === "number")
      written += `;${name}=${Math.min(Math.max(0, value), MAX_INTEGER)}`;
    else if (value !== undefined) written += `;${name}="${value}"`;
  return written;
}

function encoded(text: string): string {
  const ascii = text.toWellFormed().replace(NOT_PRINTABLE_ASCII, encodeURIComponent);
  return ascii.replace(/["\\]/g, "\\$&");
}
