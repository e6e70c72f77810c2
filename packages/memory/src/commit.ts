import {
  type Change,
  type Claim,
  type CommitResult,
  changeUsage,
  type Expectation,
  type Put,
  type RecordAddress,
  type StoredRecord,
  type Usage,
  type UsageChange,
} from "@latchkey/core";
import { deepFrozen } from "./frozen.js";
import { usageOf } from "./read.js";
import { Counters, type Row, type Workspace } from "./workspace.js";

const NO_CHANGE: UsageChange = { due: null, operation: { kind: "keep" }, restartsAt: null };

/** Judges a change, then carries it out. Nothing after the first write can fail. */
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
    const usage = moved.get(counters) ?? counters.usage;
    const result = changeUsage(usage, wanted.usage ?? NO_CHANGE);
    if (result.kind !== "changed") return { kind: "refused", index, reason: result };
    moved.set(counters, result.usage);
    usages.push(usageOf(result.usage));
  }
  const records = change.puts.map(({ record }) => frozenRecord(record));
  for (const wanted of change.counters) countersOf(workspace, wanted).forgetWindows(wanted);
  for (const [counters, usage] of moved) counters.usage = usage;
  write(workspace, change, records);
  return { kind: "committed", usages };
}

/** Whether a row is what is expected. */
export function isVersion(row: Row | undefined, version: Expectation["version"]): boolean {
  if (row === undefined || row.record === null) return version === null;
  return version === row.version || version === "exists";
}

/** The first claim whose name is another's, once the change's own releases are made; -1 where there is none. */
function firstTaken(workspace: Workspace, { claims, releases }: Change): number {
  if (claims.length === 0) return -1;
  const released = new Set(releases.map((name) => keyOf(name, name.id)));
  const claimed = new Set<string>();
  return claims.findIndex((claim) => {
    const name = keyOf(claim, "");
    if (claimed.has(name)) return true;
    claimed.add(name);
    const holder = workspace.holderOf(claim);
    if (holder === undefined || holder === claim.id) return false;
    return workspace.row(claim.kind, holder) !== undefined && !released.has(keyOf(claim, holder));
  });
}

/** Neither a kind, an index nor an id holds a space; a value may hold anything, and comes last. */
function keyOf({ kind, index, value }: Claim, id: string): string {
  return `${kind} ${index} ${id} ${value}`;
}

function countersOf(workspace: Workspace, { kind, id }: RecordAddress): Counters {
  const counters = workspace.row(kind, id)?.counters ?? null;
  if (counters === null) throw new TypeError(`"counters" names a ${kind} that has none`);
  return counters;
}

function write(workspace: Workspace, change: Change, records: readonly StoredRecord[]): void {
  for (const [index, { counters }] of change.puts.entries())
    putRecord(workspace, records[index] as StoredRecord, counters);
  for (const { kind, id } of change.deletes) workspace.delete(kind, id);
  for (const name of change.releases) workspace.release(name, name.id);
  for (const claim of change.claims) workspace.claim(claim, claim.id);
  for (const { list, of, id } of change.leaves) workspace.lists.leave(list, of, id);
  for (const { list, of, id } of change.enters) workspace.lists.enter(list, of, id);
  for (const name of change.dropWindows) workspace.windows.delete(name);
  if (change.raisesRevision) workspace.revision += 1;
}

function frozenRecord({ kind, id, version, link, body }: StoredRecord): StoredRecord {
  return Object.freeze({ kind, id, version, link, body: deepFrozen(body) });
}

function putRecord(workspace: Workspace, record: StoredRecord, counters: Put["counters"]): void {
  const row = workspace.put(record);
  if (counters === undefined) return;
  row.counters =
    "usage" in counters
      ? new Counters(usageOf(counters.usage))
      : (workspace.row(record.kind, counters.sharedWith)?.counters ?? null);
}
