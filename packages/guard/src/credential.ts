import type { PresentedRequest } from "./presented-request.js";

/** What a request presents as its key. */
export type Credential =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "none" }
  /** Something that is no key, or more than one. `detail` never repeats it. */
  | { readonly kind: "malformed"; readonly detail: string };

/** Longest key that is looked at, in characters. */
export const MAX_KEY_LENGTH = 512;

const BEARER = /^bearer(?: +(.*))?$/is;
/**
 * A text in quotes, of which RFC 9110 says that it may hold commas; also one that nothing closes, which would else be looked for again from
 * each quote within it.
 */
const QUOTED = /"(?:[^"\\]|\\.)*("?)/g;
/** What can follow a comma in credentials of one scheme: nothing, or a parameter. */
const PARAMETER = /^[ \t]*(?:[^\s=,]+[ \t]*=|$)/;
const SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const CONTROL = /\p{Cc}/u;

const NONE: Credential = Object.freeze({ kind: "none" });

/**
 * The key of a request: `Authorization: Bearer`, or `X-API-Key`, or the same in both. `Authorization` of another scheme is no key.
 * Malformed: a header that was sent twice, two keys that differ, a key that is empty, longer than {@link MAX_KEY_LENGTH} or holds
 * white space or control characters.
 */
export function readCredential({
  authorization,
  apiKey,
}: Pick<PresentedRequest, "authorization" | "apiKey">): Credential {
  if (authorization.length > 1) return malformed("the header Authorization was sent twice");
  if (apiKey.length > 1) return malformed("the header X-API-Key was sent twice");
  const [credentials = ""] = authorization;
  const [header] = apiKey;
  const bearer = readBearer(credentials);
  if (header === undefined || bearer.kind === "malformed") return bearer;
  const own = readKey(header, SPACE_OR_CONTROL);
  if (bearer.kind === "none" || own.kind !== "key" || own.key === bearer.key) return own;
  return malformed("two API keys that differ were sent");
}

/** What the host's own way to find the key has found: null and undefined are none, and whatever is no text is malformed. */
export function readFoundKey(found: unknown): Credential {
  if (found === undefined || found === null) return NONE;
  return typeof found === "string" ? readKey(found, CONTROL) : malformed("the API key is no text");
}

function readBearer(value: string): Credential {
  const match = BEARER.exec(value);
  if (match !== null) return readKey(match[1] ?? "", SPACE_OR_CONTROL);
  return isJoined(value) ? malformed("the header Authorization was sent twice") : NONE;
}

/**
 * Whether a header of another scheme holds a second one, which a proxy or `Headers` has joined to it: behind one of its commas stands
 * something else than a parameter.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-11.4
 */
function isJoined(value: string): boolean {
  const [, ...rest] = value
    .replace(QUOTED, (text, close: string) => (close === "" ? text : '""'))
    .split(",");
  return rest.some((part) => !PARAMETER.test(part));
}

/** `forbidden`: what a key found in this way must not hold. */
function readKey(key: string, forbidden: RegExp): Credential {
  if (key === "") return malformed("the API key is empty");
  if (key.length > MAX_KEY_LENGTH) return malformed("the API key is too long");
  return forbidden.test(key)
    ? malformed("the API key holds characters that no key has")
    : { kind: "key", key };
}

function malformed(detail: string): Credential {
  return { kind: "malformed", detail };
}
