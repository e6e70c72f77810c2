import { decodeBinary, encodeBinary } from "./bytes.js";

const VERSION = "1";

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

/** Writes the opaque text that fetches the next page. It contains a position, and grants no access. `position`: ASCII, such as an id. */
export function encodeCursor(scope: ListScope, position: string): string {
  return encodeBinary(beginningOf(scope) + position);
}

/** Reads a cursor; null if it is damaged or belongs to another list. `form`: of positions. Default: an id. */
export function decodeCursor(scope: ListScope, cursor: string, form = ID_FORM): string | null {
  const text = decodeBinary(cursor);
  const beginning = beginningOf(scope);
  if (text === null || !text.startsWith(beginning)) return null;
  const position = text.slice(beginning.length);
  return form.test(position) ? position : null;
}

/** ASCII, like every id. */
function beginningOf({ list, ownerId }: ListScope): string {
  return `${VERSION}:${list}:${ownerId}:`;
}
