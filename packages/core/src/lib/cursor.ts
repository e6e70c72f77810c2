import { decodeBinary, encodeBinary } from "./bytes.js";

const ID_FORM = /^[a-z]+_[A-Za-z0-9]+$/;

/** A list that is read page by page, and what it belongs to. A cursor of one list fits no other. */
export interface ListScope {
  readonly list:
    | "keys"
    | "found-keys"
    | "identities"
    | "apis"
    | "root-keys"
    | "audit-events"
    | "events"
    | "deadlines"
    | "dead-letters"
    | "usage"
    | "reservations"
    | "workspaces";
  /** Id of what the list belongs to: an API, a key, an identity, or a workspace; or the digest of a question. */
  readonly ownerId: string;
}

/**
 * Writes the opaque text that fetches the next page. It contains a position, and grants no access. Its last four bytes are a checksum,
 * so that a damaged cursor is refused instead of fetching another page.
 *
 * Cursors of events have none: programs keep them, and earlier versions read them. The event that they name is looked up.
 * `position`: ASCII, such as an id.
 */
export function encodeCursor(scope: ListScope, position: string): string {
  if (scope.list === "events") return encodeBinary(beginningOf("1", scope) + position);
  const text = beginningOf("2", scope) + position;
  return encodeBinary(text + checksum(text));
}

/**
 * Reads a cursor; null if it is damaged or belongs to another list. A cursor of an earlier version, without a checksum, is read as well.
 * `form`: of positions. Default: an id.
 */
export function decodeCursor(scope: ListScope, cursor: string, form = ID_FORM): string | null {
  const text = decodeBinary(cursor);
  if (text === null) return null;
  const position = positionAfter(beginningOf("1", scope), text) ?? checkedPosition(scope, text);
  return position !== null && form.test(position) ? position : null;
}

function checkedPosition(scope: ListScope, text: string): string | null {
  const known = text.slice(0, -CHECKSUM_BYTES);
  if (text.slice(known.length) !== checksum(known)) return null;
  return positionAfter(beginningOf("2", scope), known);
}

function positionAfter(beginning: string, text: string): string | null {
  return text.startsWith(beginning) ? text.slice(beginning.length) : null;
}

/** ASCII, like every id. */
function beginningOf(version: "1" | "2", { list, ownerId }: ListScope): string {
  return `${version}:${list}:${ownerId}:`;
}

const CHECKSUM_BYTES = 4;

/** FNV-1a in 32 bits: another text has the same one in one of 4,294,967,296 cases, and never if only one character differs. */
function checksum(text: string): string {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93);
  return String.fromCharCode(...[24, 16, 8, 0].map((shift) => (hash >>> shift) & 0xff));
}
