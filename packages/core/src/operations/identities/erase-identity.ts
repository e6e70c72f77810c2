import { identityNamedBy, namesExternalId } from "../../audit/entry.js";
import { type AuditEntry, auditEntryType } from "../../records/audit-entry.js";
import { identityType } from "../../records/identity.js";
import { keyType } from "../../records/key.js";
import { portalSessionType } from "../../records/portal-session.js";
import { rememberedAnswerType } from "../../records/remembered-answer.js";
import { afterWriting } from "../../store/after-writing.js";
import type { LoadedRecord, PageResult } from "../../store/key-store.js";
import { findDurably, inRounds, notFound, type OperationContext, transact } from "../context.js";
import { decodeOrNull, deleteRecord } from "../damaged.js";
import { forgetOf } from "../delete-in-batches.js";
import { logSince } from "../events/log-since.js";
import {
  type ActOnKey,
  actOnEveryKey,
  actOnListedKeys,
  type ChangeOfKeys,
  DELETION,
  deleteEach,
} from "../many-keys/many-keys.js";
import { decodeAll, findRecords, listPages, readList, wantsOf } from "../read.js";
import {
  ENTRIES_AT_ONCE,
  findMentions,
  findUser,
  logPages,
  MOST_KEPT,
  type Subject,
} from "./find-user.js";
import { SumsToForget } from "./forget-sums.js";
import type { ErasedIdentity } from "./operations.js";
import { isNamed, Overwriting, overwrite, readEntries, readToOverwrite } from "./overwriting.js";
import type { IdentityReference } from "./reference.js";

/** Keys whose entries are read at the same time. */
const KEYS_AT_ONCE = 20;

/**
 * Erases an identity and all earlier ones of its `externalId`. An entry that leads from the `externalId` to other records is overwritten
 * only when those are gone. The first entry that names it is overwritten last, in the commit that writes the entry of the erasure. So a
 * repeat of a call that broke off at any step still finds the rest.
 *
 * @see packages/core/decisions/0045-erasing-goes-by-the-audit-log.md
 */
export async function eraseIdentity(
  remembered: OperationContext,
  input: IdentityReference,
): Promise<ErasedIdentity> {
  const { call } = remembered;
  await call?.isFirst();
  // A repeat finds by itself what is left to do: only the user, the counts and the result are remembered.
  const context: OperationContext = { ...remembered, call: null };
  const user = await findDurably(context, () => findUser(context, input));
  if (user === null) throw notFound("identity");
  const { subject, readUpTo } = user;
  let { mentions } = user;
  for (const id of (await call?.madeOnce(() => [...subject.identityIds])) ?? [])
    subject.identityIds.add(id);
  const [named = null] = subject.identityIds;
  const entries = inRounds<number>(remembered, (count) => count);
  let deletedKeys = 0;
  let erasedEvents = 0;
  return afterWriting(async () => {
    for (;;) {
      for (const id of subject.identityIds) {
        deletedKeys += await deleteWithKeys(remembered, id, subject);
        // From here on, repeats of writes that involved the identity run as new calls.
        await forgetOf(context, rememberedAnswerType, id);
        await forgetOf(context, portalSessionType, id);
      }
      const [kept = null, ...others] = mentions.entryIds;
      const { round } = entries;
      erasedEvents += await eraseEntries(round, subject, (entry) => !isNamed(entry, subject));
      erasedEvents += await eraseEntries(round, subject, (entry) => entry.id !== kept);
      erasedEvents += await eraseByIds(round, subject, others);
      erasedEvents += await eraseLater(round, subject, readUpTo);
      if (!mentions.hasMore) {
        erasedEvents = await entries.total(erasedEvents);
        const erasedIdentities = subject.identityIds.size;
        const counts = { erasedIdentities, deletedKeys, erasedEvents };
        return finish(remembered, subject, kept, named, counts);
      }
      mentions = await findMentions(context, subject);
    }
  });
}

/**
 * Overwrites entries that name the `externalId` and were written after the log was searched, such as that of a key that was given away.
 * Those of a new identity of the same `externalId` stay. @returns How many.
 */
async function eraseLater(round: OperationContext, subject: Subject, readUpTo: number) {
  const { externalId, identityIds } = subject;
  let count = 0;
  if (externalId === null) return count;
  for await (const page of logSince(round, readUpTo)) {
    const entries = decodeAll(auditEntryType, page, round);
    const due = entries.filter((entry) => {
      const named = identityNamedBy(entry, externalId);
      return namesExternalId(entry, externalId) && (named === null || identityIds.has(named));
    });
    const ids = due.map(({ id }) => id);
    count += await eraseByIds(round, subject, ids);
  }
  return count;
}

/** Deletes an identity and its keys; the log gets none of their settings. @returns How many keys there were. */
async function deleteWithKeys(
  remembered: OperationContext,
  identityId: string,
  { externalId, tagsOfOthers }: Subject,
): Promise<number> {
  const context: OperationContext = { ...remembered, call: null };
  const sums = new SumsToForget(context, tagsOfOthers);
  const act: ActOnKey = async (work, loaded, apiId) => {
    await sums.add({ kind: "key", id: loaded.record.id });
    await sums.addTags(decodeOrNull(keyType, loaded.record, context)?.tags ?? []);
    return deleteEach(work, loaded, apiId);
  };
  const change: ChangeOfKeys = { ...DELETION, act };
  const { changed } = await actOnListedKeys(remembered, { identityId }, change);
  await transact(context, async ({ transaction, audit }) => {
    const identity = await deleteRecord(transaction, identityType, identityId);
    // A damaged record does not say which `externalId` it claims.
    if (identity === null && externalId !== null)
      transaction.release({ kind: "identity", index: "externalId", value: externalId }, identityId);
    if (identity !== undefined) audit({ type: "identity.deleted", resourceId: identityId });
  });
  const later = await actOnEveryKey(remembered, { identityId }, change);
  const total = changed + later + (await deleteUnlisted(context, identityId));
  await sums.add({ kind: "identity", id: identityId });
  await sums.end();
  return total;
}

/** Overwrites entries about the identities, and about keys that were theirs until they were deleted. @returns How many. */
async function eraseEntries(
  round: OperationContext,
  subject: Subject,
  isWanted: (entry: AuditEntry) => boolean,
): Promise<number> {
  const context: OperationContext = { ...round, call: null };
  const overwriting = new Overwriting(round, subject, isWanted);
  const sums = new SumsToForget(context, subject.tagsOfOthers);
  const eraseKeys = async (keyIds: readonly string[]) => {
    // Entries read after this are up to date, and none is counted twice.
    await overwriting.end();
    for (const { keyId, first } of await keysOwnedToTheEnd(context, keyIds, subject)) {
      await sums.add({ kind: "key", id: keyId });
      if (!first.hasMore) await overwriting.add(first.found);
      else for await (const { found } of logPages(context, keyId)) await overwriting.add(found);
    }
  };
  let seen = new Set<string>();
  for (const identityId of subject.identityIds)
    for await (const page of logPages(context, identityId)) {
      await overwriting.add(page.found);
      const keyIds = [...keysNamedIn(context, page)].filter((keyId) => !seen.has(keyId));
      if (seen.size >= MOST_KEPT) seen = new Set();
      for (const keyId of keyIds) seen.add(keyId);
      for (let from = 0; from < keyIds.length; from += KEYS_AT_ONCE)
        await eraseKeys(keyIds.slice(from, from + KEYS_AT_ONCE));
    }
  await sums.end();
  return overwriting.end();
}

/** Of these keys, the deleted ones whose last entry names one of these identities, or none; with the first page of their entries. */
async function keysOwnedToTheEnd(
  context: OperationContext,
  keyIds: readonly string[],
  { identityIds }: Subject,
) {
  const keys = await findRecords(context, wantsOf("key", keyIds));
  const gone = keyIds.filter((_, index) => keys[index] === null);
  const judged = await Promise.all(
    gone.map(async (keyId) => {
      const want = { kind: "auditEntry", of: keyId, limit: ENTRIES_AT_ONCE } as const;
      const first = await readList(context, want);
      const last = first.hasMore ? await latestEntry(context, keyId) : lastEntry(context, first);
      return { keyId, first, owner: last?.identityId ?? null };
    }),
  );
  return judged.filter(({ owner }) => owner === null || identityIds.has(owner));
}

async function eraseByIds(
  context: OperationContext,
  subject: Subject,
  entryIds: readonly string[],
): Promise<number> {
  const overwriting = new Overwriting(context, subject, () => true);
  for (let from = 0; from < entryIds.length; from += ENTRIES_AT_ONCE)
    await overwriting.add(await readEntries(context, entryIds.slice(from, from + ENTRIES_AT_ONCE)));
  return overwriting.end();
}

/** Overwrites what is left, and in the same step writes the entry of the erasure, unless it was written before. */
function finish(
  context: OperationContext,
  subject: Subject,
  kept: string | null,
  identityId: string | null,
  counts: ErasedIdentity,
): Promise<ErasedIdentity> {
  // Users who erase themselves are not named either.
  const actor = context.actor === subject.externalId ? null : context.actor;
  return transact({ ...context, actor }, async (work) => {
    const left = kept === null ? [] : await readToOverwrite(work, [kept]);
    for (const loaded of left) overwrite(work, loaded, subject);
    const latest = identityId === null ? null : await latestEntry(context, identityId);
    if (left.length > 0 || latest?.type !== "identity.erased")
      work.audit({ type: "identity.erased", resourceId: identityId ?? kept ?? "", identityId });
    return { ...counts, erasedEvents: counts.erasedEvents + left.length };
  });
}

/** The latest entry about a key or an identity; null if there is none, or it is damaged. */
async function latestEntry(context: OperationContext, of: string) {
  const want = { kind: "auditEntry", of, limit: 1, descending: true } as const;
  return lastEntry(context, await readList(context, want));
}

function lastEntry(context: OperationContext, { found }: PageResult) {
  return decodeOrNull(auditEntryType, found.at(-1)?.record, context);
}

/** The keys that entries of a page are about. */
function keysNamedIn(context: OperationContext, page: PageResult): ReadonlySet<string> {
  const entries = decodeAll(auditEntryType, page, context);
  return new Set(entries.flatMap(({ keyId }) => keyId ?? []));
}

/** Entries, and thereby keys, read at once. */
const UNLISTED_AT_ONCE = 100;

/**
 * Deletes keys of an identity that are in no list of an API that exists, because the deletion of their API broke off. The audit log leads to
 * them. @returns How many.
 */
async function deleteUnlisted(context: OperationContext, identityId: string): Promise<number> {
  const isTheirs = (loaded: LoadedRecord | null) => loaded?.record.link === identityId;
  const want = { kind: "auditEntry", of: identityId, limit: UNLISTED_AT_ONCE } as const;
  let deleted = 0;
  for await (const page of listPages(context, want)) {
    const keys = wantsOf("key", keysNamedIn(context, page));
    if (keys.length === 0) continue;
    const found = await findRecords(context, keys);
    const left = keys.filter((_, index) => isTheirs(found[index] ?? null));
    if (left.length === 0) continue;
    deleted += await transact(context, async (work) => {
      const loaded = (await work.transaction.read(left)).filter((one) => one !== null);
      const theirs = loaded.filter(isTheirs);
      for (const one of theirs) {
        const key = decodeOrNull(keyType, one.record, context);
        await deleteEach(work, one, key?.apiId ?? null);
      }
      return theirs.length;
    });
  }
  return deleted;
}
