import {
  type Change,
  type Claim,
  type CommitResult,
  changeUsage,
  type Expectation,
  NO_USAGE_CHANGE,
  type Put,
  type RecordAddress,
  type Usage,
} from "@latchkey/core";
import { Counters } from "./counters.js";
import type { Row } from "./row.js";
import type { Workspace } from "./workspace.js";

/** Judges a change, then carries it out. Nothing can fail once it is judged. */
export function commit(workspace: Workspace, change: Change): CommitResult {
  const stale = change.expects.findIndex(
    ({ kind, id, version }) => !isVersion(workspace.row(kind, id), version),
  );
  if (stale !== -1) return { kind: "stale", index: stale };
  const taken = firstTaken(workspace, change);
  if (taken !== -1) return { kind: "taken", index: taken };
  const usages: Usage[] = [];
  const moved = new Map<Counters, Usage>();
  for (const [index, wanted] of change.counters.entries()) {
    const counters = countersOf(workspace, wanted);
    // Changes to the same counters follow each other.
    const result = changeUsage(moved.get(counters) ?? counters, wanted.usage ?? NO_USAGE_CHANGE);
    if (result.kind !== "changed") return { kind: "refused", index, reason: result };
    moved.set(counters, result.usage);
    usages.push(result.usage);
  }
  for (const wanted of change.counters) countersOf(workspace, wanted).forgetWindows(wanted);
  for (const [counters, usage] of moved) counters.setUsage(usage);
  write(workspace, change);
  return { kind: "committed", usages };
}

/** Whether a row is what is expected. */
export function isVersion(row: Row | undefined, version: Expectation["version"]): boolean {
  return version === "exists" ? row !== undefined : version === (row?.version ?? null);
}

/** The first claim whose name is another's, once the change's own releases are made; -1 where there is none. */
function firstTaken(workspace: Workspace, { claims, releases }: Change): number {
  const claimed = new Set<string>();
  return claims.findIndex((claim) => {
    const name = textOf(claim);
    const holder = workspace.names(claim).get(claim.value) ?? claim.id;
    const isReleased = () => releases.some((one) => one.id === holder && textOf(one) === name);
    if (claimed.size === claimed.add(name).size) return true;
    return holder !== claim.id && workspace.row(claim.kind, holder) && !isReleased();
  });
}

/** Neither a kind nor an index holds a space; a value may hold anything, and comes last. */
const textOf = ({ kind, index, value }: Claim) => `${kind} ${index} ${value}`;

function countersOf(workspace: Workspace, { kind, id }: RecordAddress): Counters {
  const counters = workspace.row(kind, id)?.counters ?? null;
  if (counters === null) throw new TypeError(`"counters" names a ${kind} that has none`);
  return counters;
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
  if ("sharedWith" in counters)
    return workspace.row(record.kind, counters.sharedWith)?.counters ?? null;
  const { remaining, refilledAt, lastRefillAt } = counters.usage;
  return new Counters(remaining, refilledAt, lastRefillAt);
}
