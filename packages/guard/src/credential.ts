import type { PresentedRequest } from "./presented-request.js";

/** What a request presents as its key. */
export type Credential =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "none" }
  /** Something that is not a key, or more than one key. `detail` never repeats it. */
  | { readonly kind: "malformed"; readonly detail: string };

/** Longest key, in characters. A longer one is malformed, and is not looked up. */
export const MAX_KEY_LENGTH = 512;

const BEARER = /^bearer(?: +(.*))?$/is;
/**
 * A quoted string, which may contain commas (RFC 9110). It also matches one that is never closed: otherwise the search would start again at
 * each quote within it, and take the square of the length.
 */
const QUOTED = /"(?:[^"\\]|\\.)*("?)/g;
/** Within the credentials of one scheme, only a parameter or nothing can follow a comma. */
const PARAMETER = /^[ \t]*(?:[^\s=,]+[ \t]*=|$)/;
const SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const CONTROL = /\p{Cc}/u;

/** What is said to a client that sends no key, where the two headers are read. */
export const KEY_WANTED =
  "an API key is needed, in the header Authorization after Bearer, or in X-API-Key";

const NONE: Credential = Object.freeze({ kind: "none" });

/**
 * The key of a request, from `Authorization: Bearer`, or `X-API-Key`, or both if they are equal. `Authorization` with another scheme is
 * ignored. Malformed: a header that was sent twice, two different keys, or a key that is empty, longer than {@link MAX_KEY_LENGTH} or
 * contains white space or control characters.
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
  if (own.kind === "malformed" && BEARER.test(header))
    return malformed("X-API-Key takes the API key alone, without Bearer");
  if (bearer.kind === "none" || own.kind !== "key" || own.key === bearer.key) return own;
  return malformed("two different API keys were sent");
}

/** The key that the host's `getKey` returned: null and undefined mean none; anything else that is not a text is malformed. */
export function readFoundKey(found: unknown): Credential {
  if (found === undefined || found === null) return NONE;
  return typeof found === "string"
    ? readKey(found, CONTROL)
    : malformed("the API key is not a string");
}

function readBearer(value: string): Credential {
  const match = BEARER.exec(value);
  if (match !== null) return readKey(match[1] ?? "", SPACE_OR_CONTROL);
  return isJoined(value) ? malformed("the header Authorization was sent twice") : NONE;
}

/**
 * Whether a header of another scheme contains a second one, which a proxy or `Headers` has joined to it: then something other than a
 * parameter follows one of its commas.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-11.4
 */
function isJoined(value: string): boolean {
  const [, ...rest] = value
    .replace(QUOTED, (text, close: string) => (close === "" ? text : '""'))
    .split(",");
  return rest.some((part) => !PARAMETER.test(part));
}

/** `forbidden`: matches characters that the key must not contain. */
function readKey(key: string, forbidden: RegExp): Credential {
  if (key === "") return malformed("the API key is empty");
  if (key.length > MAX_KEY_LENGTH) return malformed("the API key is too long");
  return forbidden.test(key)
    ? malformed("the API key contains characters that no key has")
    : { kind: "key", key };
}

function malformed(detail: string): Credential {
  return { kind: "malformed", detail };
}
