import type {
  EpochMs,
  Hold,
  HourCount,
  KeyStore,
  LimitState,
  LoadedRecord,
  RecordAddress,
  RecordLayout,
  StoredRecord,
  Usage,
} from "@latchkey/core";
import { allHolds, holdSumsText, holdText, layoutOf } from "@latchkey/core";
import { withEach } from "../at-once.js";
import { subjectOf } from "./subject.js";
import { inOrder, sumFields } from "./unowned-sums.js";
import { readWindows, stateFields, windowLimitsOf } from "./windows.js";

/** A record with everything that a store has for it. */
export interface CopiedRecord {
  readonly record: StoredRecord;
  readonly layout: RecordLayout;
  /** Null for a record without counters. */
  readonly usage: Usage | null;
  /** Its holds, in ascending order of id. */
  readonly holds: readonly Hold[];
  /** By name, for the current limits of the record. */
  readonly windows: Readonly<Record<string, LimitState>>;
  readonly usedAt: EpochMs | null;
  /** Sums of its verifications, in ascending order of the hour and the code. */
  readonly sums: readonly HourCount[];
}

/** A record as it should be, and as the target has it: null if there is none. */
export interface Difference {
  readonly wanted: CopiedRecord | null;
  readonly present: CopiedRecord | null;
}

/** Records whose sums are read at the same time: a call that waits for a connection of a pool uses up its time. */
const SUMS_AT_ONCE = 100;

/** Completes records that a store returned, many in parallel, because most stores batch calls. */
export async function readCopied(
  store: KeyStore,
  workspaceId: string,
  loaded: readonly LoadedRecord[],
): Promise<readonly CopiedRecord[]> {
  const layouts = loaded.map(({ record }) => layoutOf(record, workspaceId));
  const asked = loaded.flatMap(({ record, usage }, at) => {
    const limits = usage === null ? [] : windowLimitsOf(layouts[at] as RecordLayout);
    return limits.map((limit) => ({ ...limit, owner: record, at }));
  });
  const [stored, sums, holds] = await Promise.all([
    readWindows(store, workspaceId, asked),
    withEach(loaded, ({ record }) => readSums(store, workspaceId, record), SUMS_AT_ONCE),
    Promise.all(
      loaded.map(({ record, usage }) =>
        usage?.holds === undefined ? [] : readHolds(store, workspaceId, record),
      ),
    ),
  ]);
  const windows = loaded.map((): Record<string, LimitState> => ({}));
  for (const { window, at, found } of stored)
    (windows[at] as Record<string, LimitState>)[window] = found;
  return loaded.map(({ record, usage, usedAt }, at) => ({
    record,
    layout: layouts[at] as RecordLayout,
    usage,
    holds: holds[at] ?? [],
    windows: windows[at] as Record<string, LimitState>,
    usedAt,
    sums: sums[at] ?? [],
  }));
}

/** Without `flowed`, the units that have flowed into a bucket: the target counts them anew. */
async function readHolds(store: KeyStore, workspaceId: string, of: RecordAddress) {
  const holds = await allHolds(store, workspaceId, of);
  return holds.map((hold) => ({
    ...hold,
    limits: hold.limits.map(({ flowed: _, ...limit }) => limit),
  }));
}

/** All sums of the subject with this address; none if the record is not a subject. */
export async function readSums(
  store: KeyStore,
  workspaceId: string,
  address: RecordAddress,
): Promise<readonly HourCount[]> {
  const subject = subjectOf(address);
  if (subject === null) return [];
  const range = { subject, startAt: 0, endAt: Number.MAX_SAFE_INTEGER };
  return inOrder(await store.readStatistics(workspaceId, range));
}

/**
 * The record as one text, identical on every store for identical contents: for the digest, and as a line of a backup. The body of
 * a key says how counters are shared.
 */
export function textOf(copied: CopiedRecord): string {
  const { record, usage, holds, windows, usedAt, sums } = copied;
  const { kind, id, version, link, body } = record;
  const names = Object.keys(windows).sort();
  return JSON.stringify({
    kind,
    id,
    version,
    ...(link !== null && { link }),
    body,
    ...(usage !== null && { usage: [usage.remaining, usage.refilledAt, usage.lastRefillAt] }),
    ...(usage?.holds !== undefined && {
      held: [holdSumsText(usage.holds), ...holds.map((hold) => [hold.id, holdText(hold)])],
    }),
    ...(names.length > 0 && {
      windows: names.map((name) => [name, ...stateFields(windows[name] as LimitState)]),
    }),
    ...(usedAt !== null && { usedAt }),
    ...(sums.length > 0 && { sums: sums.map(sumFields) }),
  });
}

/** As {@link textOf}, without statistics: a server writes them some time after the fact, and nothing waits for them. */
export function textWithoutStatistics(copied: CopiedRecord): string {
  return textOf({ ...copied, usedAt: null, sums: [] });
}
