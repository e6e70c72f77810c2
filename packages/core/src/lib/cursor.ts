import { decodeBase64Url, encodeBase64Url } from "./base64url.js";

const VERSION = "1";

/** A list that is read page by page, and what it belongs to: a cursor of one list fits no other. */
export interface ListScope {
  readonly list: "keys" | "identities" | "apis" | "root-keys" | "audit-events";
  /** Id of what the list belongs to: an API, or a workspace. */
  readonly ownerId: string;
}

/**
 * Writes the opaque text with which a caller fetches the next page.
 *
 * It holds a position and nothing that grants anything: workspace and API come from the request itself,
 * so a forged cursor can at most start a page elsewhere in a list that its caller may read anyway.
 *
 * @param lastId - Id of the last item of the page before.
 */
export function encodeCursor(scope: ListScope, lastId: string): string {
  return encodeBase64Url(
    new TextEncoder().encode([VERSION, scope.list, scope.ownerId, lastId].join(":")),
  );
}

/** Reads a cursor, or answers null when it is damaged or belongs to another list. */
export function decodeCursor(scope: ListScope, cursor: string): string | null {
  const bytes = decodeBase64Url(cursor);
  if (bytes === null) return null;
  const [version, list, ownerId, lastId, ...rest] = new TextDecoder("utf-8", { ignoreBOM: true })
    .decode(bytes)
    .split(":");
  const isOfThisList = version === VERSION && list === scope.list && ownerId === scope.ownerId;
  return isOfThisList && rest.length === 0 && /^[a-z]+_[A-Za-z0-9]+$/.test(lastId ?? "")
    ? (lastId as string)
    : null;
}
