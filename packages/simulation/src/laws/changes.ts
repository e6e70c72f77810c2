import type { Change, StoredRecord } from "@latchkey/core";
import { type ModelWorkspace, nameOfClaim, nameOfList } from "../model/store-model.js";
import { type AuditEntry, type Body, entriesOf, resourceOf } from "./stored-records.js";

/** Kinds of records whose changes are in the audit log. */
const AUDITED: ReadonlySet<string> = new Set(["key", "identity", "api", "role", "permission"]);

/** Fields of a key that change without an entry in the audit log: they follow from other fields, or say where the key is counted. */
const UNTOLD: ReadonlySet<string> = new Set(["updatedAt", "sharedCountersId", "chainCreatedAt"]);

/** Law: a change writes audit entries in the same step, for each record that it changes, and for nothing that did not change. */
export function theLogTellsTheChange(before: ModelWorkspace, change: Change): string | null {
  const entries = entriesOf(change, before);
  const moved = new Set(change.counters.map(({ id }) => id));
  for (const { record } of change.puts) {
    if (!AUDITED.has(record.kind)) continue;
    const was = before.get(record.kind, record.id)?.record;
    const told = entries.filter((entry) => resourceOf(entry) === record.id);
    const isTold = told.some(({ type }) => type.endsWith(".created") === (was === undefined));
    if (!isTold) return `${record.kind} ${record.id} changed, and the log does not tell`;
    if (record.kind !== "key" || was === undefined) continue;
    const isDamaged = before.damaged.has(record.id);
    // A report of a leak tells where the secret was found. Another entry tells what it changed.
    const fields = told.filter(({ type }) => type !== "key.leaked");
    const wrong = isDamaged ? null : wrongFields(was, record, fields, moved.has(record.id));
    if (wrong !== null) return wrong;
  }
  for (const { kind, id } of change.deletes) {
    if (!AUDITED.has(kind) || before.get(kind, id) === undefined) continue;
    const isTold = entries.some(
      (entry) => entry.type === `${kind}.deleted` && resourceOf(entry) === id,
    );
    if (!isTold) return `${kind} ${id} was deleted, and the log does not tell`;
  }
  for (const entry of entries) {
    const { type, after, before: was } = entry;
    const isEmpty = after === undefined && was === undefined;
    // An empty entry is right if counters changed: a refill that a fast clock made too early starts anew.
    if (type.endsWith(".updated") && isEmpty && !moved.has(resourceOf(entry)))
      return `the log tells of ${type} where nothing changed`;
  }
  return null;
}

/** Compares the audit entries about a key with the change of its record. */
function wrongFields(
  was: StoredRecord,
  is: StoredRecord,
  entries: readonly AuditEntry[],
  isMoved: boolean,
): string | null {
  const [old, now] = [was.body as Body, is.body as Body];
  const told = new Set(
    entries.flatMap(({ before, after }) => [
      ...Object.keys(before ?? {}),
      ...Object.keys(after ?? {}),
    ]),
  );
  const nameOf = (field: string): string => (field === "disabled" ? "enabled" : field);
  const changed = new Set(
    [...new Set([...Object.keys(old), ...Object.keys(now)])]
      .filter((field) => JSON.stringify(old[field]) !== JSON.stringify(now[field]))
      .filter((field) => !UNTOLD.has(field))
      .map(nameOf),
  );
  if (was.link !== is.link) changed.add("externalId");
  for (const field of changed)
    if (!told.has(field)) return `${is.id}: ${field} changed, and the log does not tell`;
  for (const field of told)
    if (!changed.has(field) && !(field === "remaining" && isMoved))
      return `${is.id}: the log tells of ${field}, which did not change`;
  const after = Object.assign({}, ...entries.map((entry) => entry.after)) as Body;
  const before = Object.assign({}, ...entries.map((entry) => entry.before)) as Body;
  for (const field of ["name", "expires"])
    if (before[field] !== (changed.has(field) ? old[field] : undefined))
      return `${is.id}: ${field} was ${old[field]}, and the log says ${before[field]}`;
    else if (after[field] !== (changed.has(field) ? now[field] : undefined))
      return `${is.id}: ${field} is ${now[field]}, and the log says ${after[field]}`;
  const isOn = now.disabled !== true;
  return changed.has("enabled") && after.enabled !== isOn
    ? `${is.id}: enabled is ${isOn}, and the log says ${after.enabled}`
    : null;
}

function stateOf({ link, body }: StoredRecord): string {
  const { updatedAt: _, ...settings } = body as Body;
  return JSON.stringify([link, settings]);
}

/** Law: no two states of a record share a version, because a process takes equal versions for equal records. */
export function statesHaveVersionsOfTheirOwn(): (
  before: ModelWorkspace,
  change: Change,
) => string | null {
  const known = new Map<string, string>();
  return (before, { puts, revision }) => {
    for (const { record } of puts) {
      if (!AUDITED.has(record.kind) || before.damaged.has(record.id)) continue;
      const was = before.get(record.kind, record.id)?.record;
      const [state, stateBefore] = [stateOf(record), was && stateOf(was)];
      const name = `${record.kind} ${record.id} ${record.version}`;
      if (was?.version === record.version && stateBefore !== state)
        return `${record.kind} ${record.id} changed under version ${record.version}`;
      if ((known.get(name) ?? state) !== state)
        return `version ${record.version} of ${record.id} stood for another state`;
      known.set(name, state);
      const isShared = record.kind !== "key" && record.kind !== "identity";
      if (was !== undefined && isShared && revision === null)
        return `${record.kind} ${record.id} changed under revision ${before.revision}`;
    }
    return revision !== null && revision === before.revision
      ? `revision ${revision} stands for two states`
      : null;
  };
}

/** Law: a deleted record leaves every list and releases every name; a written one is in its lists. */
export function listsFollowTheRecords(before: ModelWorkspace, change: Change): string | null {
  for (const { id } of change.deletes) {
    if (before.damaged.has(id)) continue;
    const isOut = ([name, ids]: [string, ReadonlySet<string>]): boolean =>
      !ids.has(id) || change.leaves.some((one) => one.id === id && nameOfList(one) === name);
    const list = [...before.lists].find((one) => !isOut(one));
    if (list !== undefined) return `${id} is deleted, and stays in the list ${list[0]}`;
    const claim = [...before.claims].find(
      ([name, holder]) =>
        holder === id && !change.releases.some((one) => one.id === id && nameOfClaim(one) === name),
    );
    if (claim !== undefined) return `${id} is deleted, and keeps the name ${claim[0]}`;
  }
  for (const { record } of change.puts) {
    if (record.kind !== "key" || before.damaged.has(record.id)) continue;
    const { apiId, hash } = record.body as { readonly apiId: string; readonly hash: string };
    const wanted = [`keys:${apiId} `, ...(record.link ? [`keys:${apiId} ${record.link}`] : [])];
    for (const name of wanted) {
      const isIn = before.lists.get(name)?.has(record.id) === true;
      const enters = change.enters.some((one) => one.id === record.id && nameOfList(one) === name);
      const leaves = change.leaves.some((one) => one.id === record.id && nameOfList(one) === name);
      if (!(isIn || enters) || leaves) return `${record.id} is not in the list ${name}`;
    }
    const isFound =
      before.claims.get(`key hash ${hash}`) === record.id ||
      change.claims.some((one) => one.id === record.id && one.value === hash);
    if (!isFound) return `${record.id} is not found by its hash`;
    const stale = [...before.lists].find(
      ([name, ids]) =>
        name.startsWith(`keys:${apiId} `) &&
        !wanted.includes(name) &&
        ids.has(record.id) &&
        !change.leaves.some((one) => one.id === record.id && nameOfList(one) === name),
    );
    if (stale !== undefined) return `${record.id} stays in the list ${stale[0]}`;
  }
  return null;
}
