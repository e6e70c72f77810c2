import type { ReadResult, Want } from "@latchkey/core";
import type { Row } from "./row.js";
import type { Workspace } from "./workspace.js";

/** Records by id or by claim, in the order of the wants. */
export function read(workspace: Workspace, wants: readonly Want[]): ReadResult {
  const found = wants.map((want) => find(workspace, want)?.loaded(workspace) ?? null);
  return { revision: workspace.revision, found };
}

function find(workspace: Workspace, want: Want): Row | undefined {
  const id = "id" in want ? want.id : workspace.names(want).get(want.value);
  return id === undefined ? undefined : workspace.row(want.kind, id);
}
