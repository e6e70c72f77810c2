import {
  type Change,
  type Claim,
  type CommitResult,
  type CounterChange,
  corruptRecord,
  holdSumsText,
  isWhole,
  KIND_CODE,
  type ListEntry,
  type Put,
  readUsage,
  type Usage,
  type UsageRefusal,
} from "@latchkey/core";
import type { CommitQueue } from "./commit-queue.js";
import type { Connection } from "./engine/connection.js";
import { storedText, versionCode } from "./engine/names.js";

/** Applies a change: one statement, and so one transaction. */
export async function commit(
  connection: Connection,
  queue: CommitQueue,
  workspaceId: string,
  change: Change,
): Promise<CommitResult> {
  const deadline = connection.deadline();
  const values = [workspaceId, JSON.stringify(written(change))];
  const statement = { sql: connection.sql.commit, values };
  const [[answer = null] = []] = await queue.add(workspaceId, deadline, () =>
    connection.run(statement, true, deadline),
  );
  return readResult(answer, change.counters.length);
}

const REFUSALS: readonly unknown[] = ["unlimited", "insufficient", "overflow"];

/** `counters`: how many counters the change names. */
function readResult(answer: string | null, counters: number): CommitResult {
  const result = Object(parsed(answer)) as CommitResult;
  switch (result.kind) {
    case "committed":
      if (Array.isArray(result.usages) && result.usages.length === counters)
        return { kind: "committed", usages: result.usages.map(usageOf) };
      break;
    case "refused": {
      const { kind, ...rest } = Object(result.reason) as UsageRefusal;
      const isLeft = kind === "unlimited" || ("remaining" in rest && isWhole(rest.remaining));
      if (isWhole(result.index) && REFUSALS.includes(kind) && isLeft) return result;
      break;
    }
    case "stale":
    case "taken":
      if (isWhole(result.index)) return result;
  }
  throw corruptRecord("counters");
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
  }
}

/** A usage in the form that the database function `commit` returns. */
function usageOf(written: unknown): Usage {
  const { remaining, refilledAt, lastRefillAt, holds } = Object(written) as Record<string, unknown>;
  const usage = readUsage([remaining, refilledAt, lastRefillAt, holds]);
  if (usage === undefined) throw corruptRecord("counters");
  return usage;
}

/** A change in the form of the database function `commit`, without empty parts. */
function written(change: Change) {
  const entries = change.puts.filter(({ record }) => record.kind === "auditEntry");
  const highest = Math.max(...entries.map(({ record }) => record.version));
  const parts = {
    expects: change.expects.map(({ kind, id, version }) => [
      KIND_CODE[kind],
      id,
      versionCode(version),
    ]),
    puts: change.puts.map(writtenPut),
    deletes: change.deletes.map(({ kind, id }) => ({ kind: KIND_CODE[kind], id })),
    claims: change.claims.map(writtenClaim),
    releases: change.releases.map(writtenClaim),
    enters: change.enters.map(writtenEntry),
    leaves: change.leaves.map(writtenEntry),
    counters: change.counters.map(writtenCounters),
    dropWindows: change.dropWindows,
    revision: change.revision === null ? [] : [change.revision],
    // The highest version of entries of the audit log that bring versions of their own.
    kept: highest > 0 ? [highest] : [],
  };
  return Object.fromEntries(Object.entries(parts).filter(([, items]) => items.length > 0));
}

function writtenPut({ record, counters }: Put) {
  const { kind, id, version, link, body } = record;
  const row = { kind: KIND_CODE[kind], id, version, link, body: JSON.stringify(body) };
  if (counters === undefined) return row;
  if ("sharedWith" in counters) return { ...row, sharedWith: counters.sharedWith };
  const { remaining, refilledAt, lastRefillAt, holds } = counters.usage;
  const sums = holds === undefined ? null : holdSumsText(holds);
  return { ...row, usage: [remaining, refilledAt, lastRefillAt, sums] };
}

function writtenClaim({ kind, index, value, id }: Claim & { readonly id: string }) {
  return { kind: KIND_CODE[kind], index, value: storedText(value), id };
}

function writtenEntry({ list, of, id }: ListEntry) {
  return { list, owner: storedText(of), id };
}

function writtenCounters({ kind, id, usage, keepWindows, dropWindows }: CounterChange) {
  const { due = null, operation = { kind: "keep" }, restartsAt = null } = usage ?? {};
  const number =
    operation.kind === "set" ? operation.remaining : "by" in operation ? operation.by : null;
  return {
    kind: KIND_CODE[kind],
    id,
    due,
    operation: operation.kind,
    number,
    restartsAt,
    keep: keepWindows,
    drop: dropWindows,
  };
}
