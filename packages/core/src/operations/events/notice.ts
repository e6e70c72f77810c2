import { encodeCursor } from "../../lib/cursor.js";
import { keyType } from "../../records/key.js";
import {
  DEADLINE_ID,
  DEADLINE_STAGES,
  type Deadline,
  deadlineOf,
  deadlineType,
  readDeadline,
  startOfStage,
} from "../../records/notices.js";
import { noticeOfExpiry } from "../../rules/notice.js";
import type { EpochMs } from "../../time.js";
import { afterCursor, type OperationContext, transact, type Work } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { type PageInput, pageInput } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { requireAuditLog } from "./read-events.js";
import { writeCrossings } from "./write-crossings.js";

/** Result of notice. */
export interface NoticedCount {
  /** How many events it wrote. */
  readonly noticed: number;
  /** Pass it to the next call; absent if nothing is left. */
  readonly cursor?: string;
}

/** Operations for events that no call causes. */
export interface NoticeOperations {
  /**
   * Writes events that no call causes to the audit log: for keys that expire soon or have expired, once for each `expires`; and, if
   * verifications of this process found them, for uses that are low or used up and limits that are nearly reached, once per refill period
   * and per window. Run it every minute or so, in one process or several: each event is written once. While more is due, it returns a
   * `cursor` for the next call.
   *
   * @param input - `limit`: most expiries that this call checks, 1 to 100. Default: 100.
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor; `PRECONDITION_FAILED`, reason `no-audit-log`, if `auditLog` is false.
   * @example
   * const { noticed, cursor } = await latchkey.notice();
   */
  notice(input?: PageInput): Promise<NoticedCount>;
}

/** An expiry that is due to be noticed. */
interface DueDeadline extends Deadline {
  readonly type: "key.hasExpired" | "key.expiresSoon";
}

/** Reads the deadlines that are due after a position. `goOnAfter`: position to continue after; null if no more are due. */
async function readDue(
  { store, workspaceId, notice }: OperationContext,
  after: string | null,
  limit: number,
  now: EpochMs,
): Promise<{ readonly due: readonly DueDeadline[]; readonly goOnAfter: string | null }> {
  const due: DueDeadline[] = [];
  for (const stage of DEADLINE_STAGES) {
    const start = startOfStage(stage);
    if (after !== null && after.charAt(0) > start) continue;
    const { found } = await store.page(workspaceId, {
      kind: "deadline",
      list: "deadline",
      after: after !== null && after > start ? after : start,
      // One more, to know whether it is due as well.
      limit: limit - due.length + 1,
    });
    for (const { record } of found) {
      const deadline = readDeadline(record.id, workspaceId);
      if (deadline === null) continue;
      const type = deadline.stage === stage ? noticeOfExpiry(deadline.at, now, notice) : null;
      if (type === null || (stage === "ended" && type !== "key.hasExpired")) break;
      if (due.length === limit) return { due, goOnAfter: due.at(-1)?.id ?? null };
      due.push({ ...deadline, type });
    }
  }
  return { due, goOnAfter: null };
}

/** Notices expiries in one commit, except those that another sweep has noticed meanwhile. @returns How many. */
async function noticeExpiries(
  { context, transaction, audit }: Work,
  due: readonly DueDeadline[],
  now: EpochMs,
): Promise<number> {
  const { workspaceId } = context;
  const found = await transaction.read([
    // The same commit deletes the deadline, so no other sweep can notice it too.
    ...due.map(({ id }) => ({ kind: "deadline", id, expects: "exists" }) as const),
    ...due.map(({ keyId }) => ({ kind: "key", id: keyId, expects: "nothing" }) as const),
  ]);
  const keys = found
    .slice(due.length)
    .map((loaded) => loaded && decodeOrNull(keyType, loaded.record, workspaceId));
  const apiIds = [...new Set(keys.flatMap((key) => (key === null ? [] : [key.apiId])))];
  const apis = await transaction.read(
    apiIds.map((id) => ({ kind: "api", id, expects: "nothing" }) as const),
  );
  const known = new Set(apis.map((api) => api?.record.id));
  let noticed = 0;
  for (const [index, deadline] of due.entries()) {
    if (found[index] === null) continue;
    transaction.delete(deadlineType, deadline);
    const loaded = found[due.length + index] ?? null;
    const key = keys[index] ?? null;
    if (loaded === null) continue;
    const { type, keyId: resourceId, at: expires } = deadline;
    // Its API is gone, or a process of an earlier version, which knows nothing of deadlines, changed the expiry.
    if (key !== null && (key.expires !== expires || !known.has(key.apiId))) continue;
    if (type === "key.expiresSoon")
      transaction.insert(deadlineType, deadlineOf("ended", deadline, workspaceId));
    audit({
      type,
      at: now,
      resourceId,
      identityId: loaded.linked?.record.id ?? null,
      unreadable: key === null,
      after: { expires, rotatedTo: key?.rotatedTo },
    });
    noticed += 1;
  }
  return noticed;
}

export const NOTICE_TABLE = {
  notice: operation(
    pageInput,
    async (context, { limit, cursor }): Promise<NoticedCount> => {
      requireAuditLog(context);
      const { workspaceId, recorder, crossings } = context;
      const scope = { list: "deadlines", ownerId: workspaceId } as const;
      const after = afterCursor(scope, cursor, DEADLINE_ID);
      await context.call?.isFirst();
      const seen = await writeCrossings(context, crossings?.take(workspaceId) ?? []);
      await recorder?.flush();
      const now = context.now();
      const { due, goOnAfter } = await readDue(context, after, limit, now);
      const more = goOnAfter === null ? {} : { cursor: encodeCursor(scope, goOnAfter) };
      if (due.length === 0) return { noticed: seen, ...more };
      return transact(context, async (work) => {
        return { noticed: seen + (await noticeExpiries(work, due, now)), ...more };
      });
    },
    { omitted: {} },
  ),
} satisfies TableOf<NoticeOperations>;
