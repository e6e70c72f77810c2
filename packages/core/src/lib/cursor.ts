import { decodeBinary, encodeBinary } from "./base64url.js";

const VERSION = "1";

/** A list that is read page by page, and what it belongs to: a cursor of one list fits no other. */
export interface ListScope {
  readonly list: "keys" | "identities" | "apis" | "root-keys" | "audit-events" | "reservations";
  /** Id of what the list belongs to: an API, a key, an identity, or a workspace. */
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
  return encodeBinary(beginningOf(scope) + lastId);
}

/** Reads a cursor, or answers null when it is damaged or belongs to another list. */
export function decodeCursor(scope: ListScope, cursor: string): string | null {
  const text = decodeBinary(cursor);
  const beginning = beginningOf(scope);
  if (text === null || !text.startsWith(beginning)) return null;
  const lastId = text.slice(beginning.length);
  return /^[a-z]+_[A-Za-z0-9]+$/.test(lastId) ? lastId : null;
}

/** ASCII, as every id is. */
function beginningOf({ list, ownerId }: ListScope): string {
  return `${VERSION}:${list}:${ownerId}:`;
}
