import type { AuditFields } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import { identityType } from "../../records/identity.js";
import { keyType } from "../../records/key.js";
import { noticedId, noticedType, startOfNoticed } from "../../records/notices.js";
import {
  lowUses,
  type NoticePeriod,
  periodOfUses,
  rememberNoticedUntil,
} from "../../rules/notice.js";
import { dueRefill, type Refill } from "../../rules/refill.js";
import { sha256Text } from "../../secrets/hash.js";
import type { Crossing } from "../../statistics/crossings.js";
import { applyRefill } from "../../store/counters.js";
import type { LoadedRecord } from "../../store/key-store.js";
import type { EpochMs } from "../../time.js";
import { type OperationContext, transact, type Work } from "../context.js";
import { decodeOrNull } from "../damaged.js";

/** Most crossings that one commit writes. */
const WRITTEN_AT_ONCE = 50;

/** The event of a crossing, written once in its period. */
interface Notice {
  readonly crossing: Crossing;
  readonly period: NoticePeriod;
  /** Identifies what was noticed, apart from its period. */
  readonly name: string;
  readonly fields: AuditFields;
}

/** Writes crossings that this process saw in a workspace, each once, however many processes saw it. @returns How many events. */
export async function writeCrossings(
  context: OperationContext,
  crossings: readonly Crossing[],
): Promise<number> {
  const once = { ...context, call: null };
  let written = 0;
  for (let from = 0; from < crossings.length; from += WRITTEN_AT_ONCE)
    try {
      const some = crossings.slice(from, from + WRITTEN_AT_ONCE);
      written += await transact(once, (work) => writeSome(work, some));
    } catch (error) {
      // Writing them again does no harm: those that were written are found.
      const isAway = error instanceof LatchkeyError && error.code === "STORE_UNAVAILABLE";
      if (isAway) context.crossings?.giveBack(crossings.slice(from));
      throw error;
    }
  return written;
}

/** Writes the crossings of all workspaces, if the option `notice` is set. Otherwise it only drops limits whose windows have ended. */
export async function writeAllCrossings(
  shared: Omit<OperationContext, "workspaceId">,
): Promise<void> {
  const { crossings, notice, now } = shared;
  if (crossings === null) return;
  const all = crossings.take(null);
  const isWanted = (one: Crossing) =>
    notice.writesByItself || !("period" in one) || one.period.endAt > now();
  crossings.giveBack(all.filter(isWanted));
  if (!notice.writesByItself) return;
  for (const workspaceId of new Set(all.map((one) => one.workspaceId)))
    await writeCrossings({ ...shared, workspaceId }, crossings.take(workspaceId));
}

async function writeSome(work: Work, crossings: readonly Crossing[]): Promise<number> {
  const { context, transaction, audit } = work;
  const now = context.now();
  const owners = await transaction.read(
    crossings.map(({ of: { kind, id } }) => ({ kind, id, expects: "nothing" }) as const),
  );
  const notices = crossings
    .map((crossing, index) => noticeOf(context, crossing, owners[index] ?? null, now))
    .filter((notice) => notice !== null);
  const ids = notices.map(({ name, period }) =>
    noticedId(rememberNoticedUntil(period), sha256Text(`${name} ${period.startAt}`)),
  );
  const known = await transaction.read(
    ids.map((id) => ({ kind: "noticed", id, expects: "nothing" }) as const),
  );
  let written = 0;
  for (const [index, { crossing, fields }] of notices.entries()) {
    const id = ids[index] as string;
    if (known[index] !== null || ids.indexOf(id) !== index) continue;
    transaction.expect({ kind: "noticed", id, version: null });
    transaction.insert(noticedType, { id, workspaceId: context.workspaceId });
    const { type, of, keyId, identityId } = crossing;
    audit({ type, at: now, resourceId: of.id, keyId, identityId, after: fields });
    written += 1;
  }
  if (written > 0) await forgetOver(work, now, 2 * written);
  return written;
}

/** Forgets notices whose time is over, up to `limit`: more than are added, so that they do not pile up. */
async function forgetOver(
  { context: { store, workspaceId }, transaction }: Work,
  now: EpochMs,
  limit: number,
): Promise<void> {
  const page = { kind: "noticed", list: "noticed", after: null, limit } as const;
  const { found } = await store.page(workspaceId, page);
  for (const { record } of found)
    if (record.id < startOfNoticed(now))
      transaction.delete(noticedType, { id: record.id, workspaceId });
}

/** The event of a crossing; null if it no longer holds, or if its key or identity was deleted. */
function noticeOf(
  context: OperationContext,
  crossing: Crossing,
  owner: LoadedRecord | null,
  now: EpochMs,
): Notice | null {
  if (owner === null) return null;
  if (crossing.type === "limit.near") {
    const { limit, remaining, resetAt, window, period, type } = crossing;
    if (rememberNoticedUntil(period) <= now) return null;
    const { name, limit: units, duration } = limit;
    const fields = { name, limit: units, duration, remaining, reset: resetAt };
    return { crossing, period, name: `${type} ${window}`, fields };
  }
  const counted = countedBy(owner, context.workspaceId);
  if (owner.usage === null || counted === null) return null;
  const { type } = crossing;
  const { refill, countersId } = counted;
  const usage = applyRefill(owner.usage, dueRefill(refill, now));
  const { remaining } = usage;
  const line = type === "uses.gone" ? 1 : lowUses(context.notice, refill);
  if (remaining === null || remaining >= line) return null;
  const period = periodOfUses(refill, usage.refilledAt, now);
  return { crossing, period, name: `${type} ${countersId}`, fields: { remaining } };
}

/** The refill of a key or an identity, and the id of the counters that it uses; null: its record cannot be read. */
function countedBy(
  { record }: LoadedRecord,
  workspaceId: string,
): { readonly refill: Refill | null; readonly countersId: string } | null {
  if (record.kind === "identity") {
    const identity = decodeOrNull(identityType, record, workspaceId);
    return identity && { refill: identity.refill, countersId: identity.id };
  }
  const key = decodeOrNull(keyType, record, workspaceId);
  return key && { refill: key.refill, countersId: key.sharedCountersId ?? key.id };
}
