import { z } from "zod";
import { type AuditEvent, toAuditEvent } from "../../audit/entry.js";
import { badField, type LatchkeyError, unmet } from "../../errors.js";
import { decodeCursor, encodeCursor } from "../../lib/cursor.js";
import { AUDIT_TYPES, type AuditType, auditEntryType } from "../../records/audit-entry.js";
import { type LogPosition, placeOf, readLog } from "../../rules/log-reading.js";
import type { OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { list, pageFields, text } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { readList } from "../read.js";
import { endOfNumbers } from "./log-since.js";

/** Most entries that one call reads, including those of types that are not wanted. */
const MOST_SCANNED = 2_000;

/** Entries read at once if only some types are wanted. */
const READ_AT_ONCE = 500;

/** Events in the order in which they were committed. */
export interface EventPage {
  /** The earliest first. */
  readonly events: readonly AuditEvent[];
  /** Pass it as `after` to continue. Present even if there are no events. */
  readonly cursor: string;
  /** Damaged entries that were left out; absent: none. */
  readonly damaged?: number;
}

export interface EventOperations {
  /**
   * Reads the entries of the audit log in the order in which they were committed: each once, in the same order for every reader. A reader
   * that has seen an entry has seen all that were committed before it. One call reads at most 2,000 entries, so with `types` a page may be
   * short, or empty.
   *
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor; `PRECONDITION_FAILED` with the reason `pruned` if entries after the cursor
   * were deleted, `unknown-position` if the store does not have the entry of the cursor, as after restoring an earlier backup, and
   * `no-audit-log` if `auditLog` is false.
   * @example
   * const { events, cursor } = await latchkey.readEvents({ types: ["key.created", "key.deleted"] });
   */
  readEvents(input?: {
    /** The `cursor` of the previous call. Default: from the earliest entry. */
    readonly after?: string | undefined;
    /** Most events: 1 to 100. Default: 100. */
    readonly limit?: number | undefined;
    /** Only events of these types. Default: all. */
    readonly types?: readonly AuditType[] | undefined;
  }): Promise<EventPage>;
}

const readEventsInput = z.strictObject({
  after: text(1, 1_024).optional(),
  limit: pageFields.limit,
  types: list(
    z.enum(AUDIT_TYPES, { error: "must be a type of event, such as key.created" }),
    AUDIT_TYPES.length,
    "types",
  ).optional(),
});

const POSITION = /^(\d{1,16})\.(-?\d{1,16})\.([a-z]+_[A-Za-z0-9]+)?$/;

function scopeOf({ workspaceId }: OperationContext) {
  return { list: "events", ownerId: workspaceId } as const;
}

function positionOf(context: OperationContext, cursor: string): LogPosition {
  const position = decodeCursor(scopeOf(context), cursor, POSITION);
  const [, version, deleted, id = ""] = POSITION.exec(position ?? "") ?? [];
  const at = { version: Number(version), id, deleted: Number(deleted) };
  if (position !== null && Number.isSafeInteger(at.version) && at.version >= 1) return at;
  throw badField("after", "must be a cursor that readEvents returned here");
}

/** @throws LatchkeyError `PRECONDITION_FAILED` if there is no log to read. */
export function requireAuditLog({ keepsAuditLog }: OperationContext): void {
  if (keepsAuditLog) return;
  throw unmet("no-audit-log", "events are the entries of the audit log, and auditLog is false");
}

function refusal(reason: "pruned" | "unknown-position"): LatchkeyError {
  const why =
    reason === "pruned"
      ? "events that follow this cursor were pruned"
      : "the store does not have the event that this cursor names, as after a restore";
  const message = `${why}: read again without "after" to start from the earliest event`;
  return unmet(reason, message);
}

/** Events with their numbers in the log, as {@link EventOperations.readEvents} returns them. */
export interface LogPage extends Omit<EventPage, "events"> {
  readonly found: readonly { readonly event: AuditEvent; readonly number: number }[];
}

export async function readLogPage(
  context: OperationContext,
  { after, limit, types }: z.output<typeof readEventsInput>,
): Promise<LogPage> {
  requireAuditLog(context);
  const wanted = types === undefined ? null : new Set<AuditType>(types);
  const events: LogPage["found"][number][] = [];
  let position = after === undefined ? null : positionOf(context, after);
  let [damaged, scanned, hasMore] = [0, 0, true];
  while (hasMore && events.length < limit && scanned < MOST_SCANNED) {
    const most = wanted === null ? limit - events.length : READ_AT_ONCE;
    const part = await readList(context, {
      kind: "auditEntry",
      // One more: the entry of the position comes again.
      limit: Math.min(most, MOST_SCANNED - scanned) + 1,
      from: placeOf(position),
    });
    const { found, size, last = 1 } = part;
    const entries = found.map(({ record }) => record);
    const reading = readLog(position, { entries, hasMore: part.hasMore, size, last });
    if (reading.kind !== "read") {
      // Return what came before it; the next call reports the gap.
      if (scanned > 0) break;
      throw refusal(reading.kind === "pruned" ? "pruned" : "unknown-position");
    }
    const { from, until, end } = reading;
    let at = from;
    for (; at < until && events.length < limit; at += 1) {
      const entry = decodeOrNull(auditEntryType, entries[at], context);
      if (entry === null) damaged += 1;
      else if (wanted?.has(entry.type) !== false)
        events.push({ event: toAuditEvent(entry), number: entries[at]?.version ?? 1 });
    }
    scanned += at - from;
    const stopped = at < until ? entries[at - 1] : undefined;
    position = stopped === undefined ? end : { ...end, version: stopped.version, id: stopped.id };
    hasMore = part.hasMore || at < entries.length;
    if (from === until) break;
  }
  const cursor = cursorOf(context, position as LogPosition);
  return { found: events, cursor, ...(damaged > 0 && { damaged }) };
}

/** The cursor after all existing events. */
export async function endOfLog(context: OperationContext): Promise<string> {
  requireAuditLog(context);
  const { last: version, size } = await endOfNumbers(context);
  // Entries that were written before entries had numbers are ordered by id.
  const where = version === 1 ? { descending: true } : { from: { version, id: "" } };
  const { found } = await readList(context, { kind: "auditEntry", limit: 1, ...where });
  const [entry] = found.filter(({ record }) => record.version === version);
  return cursorOf(context, { version, id: entry?.record.id ?? "", deleted: version - size });
}

/** The number of the latest event before this cursor. @throws LatchkeyError `BAD_REQUEST` for a cursor of another list. */
export function numberAt(context: OperationContext, cursor: string): number {
  return positionOf(context, cursor).version;
}

function cursorOf(context: OperationContext, { version, deleted, id }: LogPosition): string {
  return encodeCursor(scopeOf(context), `${version}.${deleted}.${id}`);
}

export const EVENT_TABLE = {
  readEvents: operation(
    readEventsInput,
    async (context, input): Promise<EventPage> => {
      const { found, ...rest } = await readLogPage(context, input);
      return { events: found.map(({ event }) => event), ...rest };
    },
    { omitted: {} },
  ),
} satisfies TableOf<EventOperations>;
