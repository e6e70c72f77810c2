import { LatchkeyError } from "@latchkey/core";

/** Maximum depth of a body of any size. The outermost object or array is level 1. */
export const MAX_DEPTH = 32;

/** A byte order mark stays in the text, which makes it malformed JSON. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses a body that is a JSON object: UTF-8 without a byte order mark, at most {@link MAX_DEPTH} levels, no member given
 * twice.
 *
 * @throws LatchkeyError `BAD_REQUEST` whose message quotes nothing of the body, unlike the message of JSON.parse.
 */
export function parseJsonObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return parseJson(bytes, "object") as Readonly<Record<string, unknown>>;
}

/** Parses a body that is a JSON array, as strictly as {@link parseJsonObject}. */
export function parseJsonArray(bytes: Uint8Array): readonly unknown[] {
  return parseJson(bytes, "array") as readonly unknown[];
}

function parseJson(bytes: Uint8Array, expected: "object" | "array"): object {
  const text = decodeBody(bytes);
  const { depth, colons } = measure(text);
  if (depth > MAX_DEPTH) throw malformed(`must be nested at most ${MAX_DEPTH} levels deep`);
  const value = parse(text);
  if (
    typeof value !== "object" ||
    value === null ||
    Array.isArray(value) !== (expected === "array")
  )
    throw malformed(`must be a JSON ${expected}`);
  if (colons !== countMembers(value)) throw malformed("must not contain a member twice");
  return value;
}

/** The text of a body. @throws LatchkeyError `BAD_REQUEST` unless it is UTF-8. */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed("must be UTF-8");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed("must be well-formed JSON");
  }
}

/**
 * Depth of brackets and number of colons outside strings, in one pass without recursion. In well-formed JSON there is a
 * colon for each member as written, before JSON.parse drops all but the last of one name.
 */
function measure(text: string): { readonly depth: number; readonly colons: number } {
  let depth = 0;
  let deepest = 0;
  let colons = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (isInString) {
      if (character === BACKSLASH) index += 1;
      else if (character === QUOTE) isInString = false;
    } else if (character === QUOTE) isInString = true;
    else if (character === COLON) colons += 1;
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth -= 1;
  }
  return { depth: deepest, colons };
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Number of members of all objects in a parsed value. */
function countMembers(value: object): number {
  let count = 0;
  const pending: object[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const contents: unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (!Array.isArray(next)) count += contents.length;
    for (const content of contents)
      if (typeof content === "object" && content !== null) pending.push(content);
  }
  return count;
}

function malformed(message: string): LatchkeyError {
  return new LatchkeyError("BAD_REQUEST", `the body ${message}`, {
    issues: [{ path: "", message: `the body ${message}` }],
  });
}
