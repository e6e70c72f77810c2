import { LatchkeyError } from "@latchkey/core";

/** How deep a body may nest, whatever its size. The outermost object is level 1. */
export const MAX_DEPTH = 32;

/** The byte order mark stays in the text, where it is no JSON. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads a JSON object out of a body: UTF-8 without a byte order mark, at most {@link MAX_DEPTH} levels, no member
 * given twice.
 *
 * @throws LatchkeyError `BAD_REQUEST` in words that repeat nothing of the body; what JSON.parse says does.
 */
export function parseJsonObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return parseJson(bytes, "object") as Readonly<Record<string, unknown>>;
}

/** Reads a JSON array out of a body, as strictly as {@link parseJsonObject} reads an object. */
export function parseJsonArray(bytes: Uint8Array): readonly unknown[] {
  return parseJson(bytes, "array") as readonly unknown[];
}

function parseJson(bytes: Uint8Array, wanted: "object" | "array"): object {
  const text = decode(bytes);
  const { depth, colons } = measure(text);
  if (depth > MAX_DEPTH) throw malformed(`must be nested at most ${MAX_DEPTH} levels deep`);
  const value = parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value) !== (wanted === "array"))
    throw malformed(`must be a JSON ${wanted}`);
  if (colons !== countMembers(value)) throw malformed("must not give a member twice");
  return value;
}

function decode(bytes: Uint8Array): string {
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
 * Depth of brackets and number of colons outside strings, in one pass and without recursion. For well-formed JSON
 * the colons are the members as written, before JSON.parse drops all but the last of one name.
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

/** Members of all objects in a parsed value. */
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
