import type { Noting } from "../changes.js";

/** What changes are written down with, by nobody in particular: ids count up from 1. */
export function notingWith(fields: Partial<Noting> = {}): Noting {
  let count = 0;
  return {
    newId: (kind) => {
      count += 1;
      return `${kind}_${count}`;
    },
    workspaceId: "ws_default",
    actor: null,
    ...fields,
  };
}
