import {
  type Change,
  type CommitResult,
  judgeChange,
  KIND_CODE,
  type ListEntry,
  type Put,
  parseWhole,
  type RecordAddress,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import {
  addCounters,
  findCounters,
  leaveCounters,
  moveCounters,
  type StoredCounters,
} from "./engine/counters.js";
import type { Statement } from "./engine/database.js";
import { listKey, storedValue } from "./engine/names.js";
import { addressOf, isOfKind } from "./engine/statements.js";

/** The part of a record that a change needs. */
interface Found {
  readonly seq: number;
  readonly version: number;
  readonly counters: number | null;
}

/** Counters as found, and later with only the windows that stay. */
interface Counted extends StoredCounters {
  readonly seq: number;
}

/** Judges a change and applies it. Call it inside a write transaction. */
export function commit(connection: Connection, workspaceId: string, change: Change): CommitResult {
  const { run, names, memo } = connection;
  let workspace = names.workspace(workspaceId);
  /** Records found or written so far, by kind and id; null if there is none. */
  const known = new Map<string, Found | null>();
  const counted = new Map<number, Counted>();
  const judged = judgeChange<Counted>(change, {
    version: (address) => find(address)?.version ?? null,
    holder: (claim) => {
      const row = run.holder.get(names.claims(workspace, claim), storedValue(claim));
      return row?.[0] as string | undefined;
    },
    counters: countersOf,
    usage: ({ usage }) => usage,
  });
  if (judged.kind !== "committed") return judged;
  for (const wanted of change.counters) {
    const { keepWindows, dropWindows = [] } = wanted;
    const counters = countersOf(wanted) as Counted;
    const windows = counters.windows.filter(
      ({ name }) => keepWindows?.includes(name) !== false && !dropWindows.includes(name),
    );
    Object.assign(counters, { windows });
  }

  const { puts, claims, enters, revision } = change;
  const isWriting = puts.length + claims.length + enters.length > 0 || revision !== null;
  workspace = names.workspace(workspaceId, isWriting);
  if (workspace === 0) return { kind: "committed", usages: judged.usages };
  const isRenewed = change.puts.some(({ record }) => find(record) !== null);
  if (isRenewed || change.deletes.length > 0 || change.revision !== null) memo.setMark();
  if (judged.moved.size > 0) memo.age += 1;
  for (const [{ seq, windows }, usage] of judged.moved)
    moveCounters(connection, seq, { usage, windows });
  for (const name of change.releases)
    run.release.run(names.claims(workspace, name), storedValue(name), find(name)?.seq ?? null);
  for (const each of change.puts) put(each);
  for (const name of change.claims)
    run.claim.run(names.claims(workspace, name, true), storedValue(name), existing(name).seq);
  for (const address of change.deletes) remove(address);
  for (const entry of change.leaves) move(run.leave, entry, -1);
  for (const entry of change.enters) move(run.enter, entry, 1);
  for (const window of change.dropWindows) run.forget.run(workspace, window);
  if (change.revision !== null) run.setRevision.run(change.revision, workspace);
  return { kind: "committed", usages: judged.usages };

  function countersOf(address: RecordAddress): Counted | null {
    const seq = find(address)?.counters ?? null;
    if (seq === null) return null;
    const known = counted.get(seq) ?? { seq, ...findCounters(connection, seq) };
    counted.set(seq, known);
    return known;
  }

  function put({ record, counters: wanted }: Put): void {
    const { kind, id, link } = record;
    const found = find(record);
    const isEntry = kind === "auditEntry";
    let { version } = record;
    if (isEntry) version ||= found?.version ?? 0;
    let counters = found?.counters ?? null;
    if (wanted !== undefined) {
      if ("usage" in wanted) counters = addCounters(connection, wanted.usage);
      else counters = existing({ kind, id: wanted.sharedWith }).counters;
      if ("sharedWith" in wanted) run.shareCounters.run(counters);
      if (found?.counters) leaveCounters(connection, found.counters);
    }
    let seq = found?.seq;
    if (seq === undefined) {
      const list = names.name(workspace, kind, true);
      if (!isEntry) run.resize.run(1, list);
      else {
        version ||= Number(run.lastEntry.get(list)?.[0]) + 1;
        run.resizeLog.run(version, list);
      }
    }
    const columns = [version, link, counters, JSON.stringify(record.body)];
    if (seq !== undefined) run.update.run(...columns, seq);
    else seq = Number(run.insert.run(...columns, workspace, KIND_CODE[kind], id).lastInsertRowid);
    known.set(`${kind} ${id}`, { seq, version, counters });
  }

  function remove(address: RecordAddress): void {
    const found = find(address);
    if (found === null) return;
    run.delete.run(found.seq);
    run.resize.run(-1, names.name(workspace, address.kind, true));
    run.deleteUse.run(found.seq);
    if (found.counters !== null) leaveCounters(connection, found.counters);
    known.set(`${address.kind} ${address.id}`, null);
  }

  function move(statement: Statement, entry: ListEntry, by: number): void {
    if (isOfKind(entry)) return;
    const [list, owner] = listKey(names, workspace, entry, true);
    const { changes } = statement.run(list, owner, entry.id);
    if (changes > 0 && entry.of === undefined) run.resize.run(by, list);
  }

  function existing(address: RecordAddress): Found {
    const found = find(address);
    if (found !== null) return found;
    throw new TypeError(`the change names a ${address.kind} that is not there`);
  }

  function find(address: RecordAddress): Found | null {
    const key = `${address.kind} ${address.id}`;
    let found = known.get(key);
    if (found !== undefined) return found;
    const [seq, stored, counters] = run.find.get(...addressOf(workspace, address)) ?? [];
    const version = parseWhole(stored) ?? Number.NaN;
    found = seq === undefined ? null : ({ seq, version, counters } as Found);
    known.set(key, found);
    return found;
  }
}
