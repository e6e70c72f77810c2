import { type Change, type CommitResult, deepFrozen, judgeChange, type Put } from "@latchkey/core";
import { Counters } from "./counters.js";
import type { Row } from "./row.js";
import type { Workspace } from "./workspace.js";

/** Judges a change, then applies it. Nothing can fail once it is judged. */
export function commit(workspace: Workspace, change: Change): CommitResult {
  const judged = judgeChange<Counters>(change, {
    version: ({ kind, id }) => workspace.row(kind, id)?.version ?? null,
    holder: (claim) => {
      const id = workspace.names(claim).get(claim.value);
      return id === undefined ? id : workspace.row(claim.kind, id)?.id;
    },
    counters: (address) => workspace.counters(address),
    usage: (counters) => counters,
  });
  if (judged.kind !== "committed") return judged;
  const { usages, moved } = judged;
  for (const wanted of change.counters) workspace.counters(wanted)?.forgetWindows(wanted);
  for (const [counters, usage] of moved) counters.setUsage(usage);
  write(workspace, change);
  return { kind: "committed", usages };
}

function write(workspace: Workspace, change: Change): void {
  const rows = new Map<string, Row>();
  for (const put of change.puts)
    rows.set(put.record.id, workspace.put(put.record, newCounters(workspace, put)));
  for (const { kind, id } of change.deletes) workspace.delete(kind, id);
  for (const one of change.releases)
    if (workspace.names(one).get(one.value) === one.id) workspace.names(one).delete(one.value);
  for (const one of change.claims) workspace.names(one).set(one.value, one.id);
  for (const { list, of, id } of change.leaves) workspace.lists.leave(list, of, id);
  for (const { list, of, id } of change.enters) workspace.lists.enter(list, of, id, rows.get(id));
  for (const name of change.dropWindows) workspace.windows.delete(name);
  if (change.revision !== null) workspace.revision = change.revision;
}

function newCounters(workspace: Workspace, { record, counters }: Put): Counters | null | undefined {
  if (counters === undefined) return undefined;
  if ("sharedWith" in counters) {
    const shared = workspace.row(record.kind, counters.sharedWith)?.counters ?? null;
    if (shared !== null && workspace.row(record.kind, record.id)?.counters !== shared)
      shared.holders += 1;
    return shared;
  }
  const { remaining, refilledAt, lastRefillAt, holds } = counters.usage;
  return new Counters(remaining, refilledAt, lastRefillAt, deepFrozen(holds));
}
