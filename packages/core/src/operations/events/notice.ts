import { hasCode } from "../../errors.js";
import { encodeCursor } from "../../lib/cursor.js";
import { withEachAtOnce, yieldToEventLoop } from "../../lib/promises.js";
import { identityType } from "../../records/identity.js";
import { keyType } from "../../records/key.js";
import {
  DEADLINE_ID,
  DEADLINE_STAGES,
  type Deadline,
  deadlineOf,
  deadlineType,
  noticedId,
  noticedType,
  readDeadline,
  startOfNoticed,
  startOfStage,
} from "../../records/notices.js";
import { lowUses, noticeOfExpiry, periodOfUses, rememberNoticedUntil } from "../../rules/notice.js";
import { sha256Text } from "../../secrets/hash.js";
import type { Crossing } from "../../statistics/crossings.js";
import { afterWriting } from "../../store/after-writing.js";
import { usageAt } from "../../store/counters.js";
import type { LoadedRecord } from "../../store/key-store.js";
import type { EpochMs } from "../../time.js";
import { afterCursor, type OperationContext, transact, type Work } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { type PageInput, pageInput } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { existingApis, readList, wantsOf } from "../read.js";
import { requireAuditLog } from "./read-events.js";

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
   * and per window. Run it every minute or so, in one process or several. While more is due, it returns a `cursor` for the next call.
   *
   * @param input - `limit`: most expiries that this call checks, 1 to 100. Default: 100.
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor; `PRECONDITION_FAILED`, reason `no-audit-log`, if `auditLog` is false.
   * @example
   * const { noticed, cursor } = await latchkey.notice();
   */
  notice(input?: PageInput): Promise<NoticedCount>;
}

interface DueDeadline extends Deadline {
  readonly type: "key.hasExpired" | "key.expiresSoon";
}

/** Reads the deadlines that are due after a position. `goOnAfter`: position to continue after; null if no more are due. */
async function readDue(
  context: OperationContext,
  after: string | null,
  limit: number,
  now: EpochMs,
): Promise<{ readonly due: readonly DueDeadline[]; readonly goOnAfter: string | null }> {
  const { workspaceId, notice } = context;
  const due: DueDeadline[] = [];
  for (const stage of DEADLINE_STAGES) {
    const start = startOfStage(stage);
    if (after !== null && after.charAt(0) > start) continue;
    const { found } = await readList(context, {
      kind: "deadline",
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
    ...wantsOf(
      "key",
      due.map(({ keyId }) => keyId),
    ),
  ]);
  const keys = found
    .slice(due.length)
    .map((loaded) => decodeOrNull(keyType, loaded?.record, context));
  const apiIds = new Set(keys.flatMap((key) => key?.apiId ?? []));
  const known = await existingApis(transaction, apiIds);
  // A failover may bring an API back.
  for (const id of apiIds) if (!known.has(id)) transaction.expectAbsent({ kind: "api", id });
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
      return afterWriting(async () => {
        await recorder?.flush(workspaceId);
        const now = context.now();
        const { due, goOnAfter } = await readDue(context, after, limit, now);
        const more = goOnAfter === null ? {} : { cursor: encodeCursor(scope, goOnAfter) };
        if (due.length === 0) return { noticed: seen, ...more };
        return transact(context, async (work) => {
          return { noticed: seen + (await noticeExpiries(work, due, now)), ...more };
        });
      }, seen > 0);
    },
    { omitted: {} },
  ),
} satisfies TableOf<NoticeOperations>;

/** Most crossings that one commit writes. */
const WRITTEN_AT_ONCE = 50;

/** Writes crossings that this process saw in a workspace, each once, however many processes saw it. @returns How many events. */
async function writeCrossings(context: OperationContext, crossings: readonly Crossing[]) {
  const once = { ...context, call: null };
  let written = 0;
  for (let from = 0; from < crossings.length; from += WRITTEN_AT_ONCE)
    try {
      const some = crossings.slice(from, from + WRITTEN_AT_ONCE);
      const write = () => transact(once, (work) => writeSome(work, some));
      written += await afterWriting(write, written > 0);
    } catch (error) {
      // Writing them again does no harm: those that were written are found.
      if (hasCode(error, "STORE_UNAVAILABLE")) context.crossings?.giveBack(crossings.slice(from));
      throw error;
    }
  return written;
}

/** Most workspaces whose crossings are written at the same time: each takes round trips. */
const MOST_AT_ONCE = 4;

/**
 * Writes the crossings of a workspace, or of all, if the option `notice` is set. Otherwise it only drops limits whose windows have ended. A
 * workspace that cannot be written, for example because it is being deleted, holds up no other.
 *
 * @throws The first failure, once the others were tried; at once if the store cannot be reached.
 */
export async function flushCrossings(
  shared: Omit<OperationContext, "workspaceId">,
  ofWorkspace: string | null,
): Promise<void> {
  const { crossings, notice, now } = shared;
  if (crossings === null) return;
  if (!notice.writesByItself) return crossings.dropEnded(now());
  const workspaceIds = ofWorkspace === null ? crossings.workspaceIds() : [ofWorkspace];
  const failures: unknown[] = [];
  await withEachAtOnce(workspaceIds, MOST_AT_ONCE, async (workspaceId) => {
    if (failures.some(isOfStore)) return;
    const own = crossings.take(workspaceId);
    await writeCrossings({ ...shared, workspaceId }, own).catch((error: unknown) => {
      failures.push(error);
    });
    await yieldToEventLoop();
  });
  if (failures.length > 0) throw failures[0];
}

/** Whether the store cannot be reached. With a reason, only this workspace cannot be used. */
function isOfStore(error: unknown): boolean {
  return hasCode(error, "STORE_UNAVAILABLE") && error.reason === undefined;
}

async function writeSome(work: Work, crossings: readonly Crossing[]): Promise<number> {
  const { context, transaction, audit } = work;
  const now = context.now();
  const owners = await transaction.read(
    // Nothing is written about an owner who is erased meanwhile.
    crossings.map(({ of: { kind, id } }) => ({ kind, id, expects: "exists" }) as const),
  );
  const notices = crossings
    .map((crossing, index) => noticeOf(context, crossing, owners[index] ?? null, now))
    .filter((notice) => notice !== null);
  const ids = notices.map(({ name, period }) =>
    noticedId(rememberNoticedUntil(period), sha256Text(`${name} ${period.startAt}`)),
  );
  const known = await transaction.read(wantsOf("noticed", ids));
  let written = 0;
  for (const [index, { crossing, fields }] of notices.entries()) {
    const id = ids[index] as string;
    if (known[index] !== null || ids.indexOf(id) !== index) continue;
    transaction.expectAbsent({ kind: "noticed", id });
    transaction.insert(noticedType, { id, workspaceId: context.workspaceId });
    const { type, of, keyId, identityId } = crossing;
    audit({ type, at: now, resourceId: of.id, keyId, identityId, after: fields });
    written += 1;
  }
  if (written > 0) await forgetOver(work, now, 2 * written);
  return written;
}

/** Forgets notices whose time is over, up to `limit`: more than are added, so that they do not pile up. */
async function forgetOver({ context, transaction }: Work, now: EpochMs, limit: number) {
  const { found } = await readList(context, { kind: "noticed", limit });
  for (const { record } of found)
    if (record.id < startOfNoticed(now))
      transaction.delete(noticedType, { id: record.id, workspaceId: context.workspaceId });
}

/**
 * The event of a crossing, written once in its period; null if it no longer holds, or if its key or identity was deleted. `name` identifies
 * what was noticed, apart from the period.
 */
function noticeOf(
  context: OperationContext,
  crossing: Crossing,
  owner: LoadedRecord | null,
  now: EpochMs,
) {
  if (owner === null) return null;
  if (crossing.type === "limit.near") {
    const { limit, remaining, resetAt, window, period, type } = crossing;
    if (rememberNoticedUntil(period) <= now) return null;
    const { name, limit: units, duration } = limit;
    const fields = { name, limit: units, duration, remaining, reset: resetAt };
    return { crossing, period, name: `${type} ${window}`, fields };
  }
  const counted = countedBy(owner, context);
  if (owner.usage === null || counted === null) return null;
  const { type } = crossing;
  const { refill, countersId } = counted;
  const usage = usageAt(owner.usage, refill, now);
  const { remaining } = usage;
  const line = type === "uses.gone" ? 1 : lowUses(context.notice, refill);
  if (remaining === null || remaining >= line) return null;
  const period = periodOfUses(refill, usage.refilledAt, now);
  return { crossing, period, name: `${type} ${countersId}`, fields: { remaining } };
}

/** The refill of a key or an identity, and the id of the counters that it uses; null: its record cannot be read. */
function countedBy({ record }: LoadedRecord, context: OperationContext) {
  if (record.kind === "identity") {
    const identity = decodeOrNull(identityType, record, context);
    return identity && { refill: identity.refill, countersId: identity.id };
  }
  const key = decodeOrNull(keyType, record, context);
  return key && { refill: key.refill, countersId: key.sharedCountersId ?? key.id };
}
