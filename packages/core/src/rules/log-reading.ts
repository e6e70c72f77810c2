/** The position of a reader of the audit log: after the last entry that it has read. */
export interface LogPosition {
  /** Number of that entry. 1: it was written before entries had numbers, or nothing was read yet. */
  readonly version: number;
  /** Its id. Empty: the reader began after deleted entries. */
  readonly id: string;
  /** How many entries had been deleted when the reader started from the beginning: it has not missed those. */
  readonly deleted: number;
}

/** The entries from a position on, including the entry at the position if it still exists. */
export interface LogPart {
  /** In ascending order of version, then of id. A version that cannot be read is 0. */
  readonly entries: readonly { readonly version: number; readonly id: string }[];
  /** Whether entries follow these. */
  readonly hasMore: boolean;
  /** How many entries the log has, and the highest version that one ever had. */
  readonly size: number;
  readonly last: number;
}

/** Where the part for {@link readLog} begins. A number alone says where, whichever entry has it now. */
export function placeOf(after: LogPosition | null): {
  readonly version: number;
  readonly id: string;
} {
  const { version, id } = after ?? { version: 1, id: "" };
  return { version, id: version > 1 ? "" : id };
}

/** What a reader may read of a part. */
export type LogReading =
  /** The entries from `from` up to, but not including, `until`. */
  | {
      readonly kind: "read";
      readonly from: number;
      readonly until: number;
      readonly end: LogPosition;
    }
  /** Entries after the position were deleted. */
  | { readonly kind: "pruned" }
  /** The log does not have the entry of the position and never had it: the log is that of another store, or an earlier backup. */
  | { readonly kind: "unknown" };

/**
 * Decides what a reader of the log may get next, so that nothing is skipped silently.
 *
 * Numbers have gaps only where entries were deleted. So a gap means that the reader misses entries, unless they were deleted before it
 * started from the beginning: then the number of deletions is unchanged. Once that number has changed, any gap may hide missed entries.
 * The entry at the position shows whether the log is still the same.
 *
 * @param after - Null: the reader starts with the earliest entry.
 * @see packages/core/decisions/0041-events-are-the-audit-log-in-the-order-of-commits.md
 */
export function readLog(after: LogPosition | null, part: LogPart): LogReading {
  const { entries, hasMore, size, last } = part;
  const deleted = last - size;
  const misses = after !== null && after.deleted !== deleted;
  const { version: from, id } = after ?? { version: 1, id: "" };
  const [first] = entries;
  const isThere = first?.id === id;
  if (from > last || (from > 1 && first?.version === from && !isThere)) return { kind: "unknown" };
  // Without numbers, the position's own entry tells: entries before it are deleted first.
  if (from === 1 && id !== "" && !isThere && misses) return { kind: "pruned" };
  const begin = isThere ? 1 : 0;
  let [until, previous] = [begin, from];
  for (; until < entries.length; until += 1) {
    const version = entries[until]?.version || previous + 1;
    if (misses && version > previous + 1) break;
    previous = Math.max(previous, version);
  }
  if (misses && until === begin && (hasMore || previous < last)) return { kind: "pruned" };
  const end = entries[until - 1];
  const position = { deleted: after?.deleted ?? deleted };
  if (!hasMore && !misses && previous < last)
    return { kind: "read", from: begin, until, end: { version: last, id: "", ...position } };
  return {
    kind: "read",
    from: begin,
    until,
    end: { version: previous, id: end === undefined ? id : end.id, ...position },
  };
}
