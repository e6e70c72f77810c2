import type { LoadedRecord, ReadResult, StoredRecordState, Usage, Want } from "@latchkey/core";
import type { Row, Workspace } from "./workspace.js";

/** Records by id or by claim, in the order of the wants. */
export function read(workspace: Workspace, wants: readonly Want[]): ReadResult {
  const found = wants.map((want) => {
    const row = find(workspace, want);
    return row === undefined ? null : loaded(workspace, row);
  });
  return { revision: workspace.revision, found };
}

/** A record, and the identity that it links to. */
export function loaded(workspace: Workspace, row: Row): LoadedRecord {
  const { record, usage, usedAt } = stateOf(row);
  const identity = row.link === null ? undefined : workspace.row("identity", row.link);
  return { record, usage, usedAt, linked: identity === undefined ? null : stateOf(identity) };
}

/** A copy: counters are never handed out, nor kept as they are handed in, so that a charge need not freeze them. */
export function usageOf({ remaining, refilledAt, lastRefillAt }: Usage): Usage {
  return { remaining, refilledAt, lastRefillAt };
}

function find(workspace: Workspace, want: Want): Row | undefined {
  const id = "id" in want ? want.id : workspace.names(want).get(want.value);
  return id === undefined ? undefined : workspace.row(want.kind, id);
}

/** Only rows that a workspace holds come here, and these have a version. */
function stateOf({ kind, id, version, link, body, counters, usedAt }: Row): StoredRecordState {
  const record = { kind, id, version: version as number, link, body };
  return { record, usage: counters && usageOf(counters), usedAt };
}
