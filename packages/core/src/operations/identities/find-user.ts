import { externalIdOf, identityNamedBy, namesExternalId } from "../../audit/entry.js";
import { auditEntryType } from "../../records/audit-entry.js";
import { identityType } from "../../records/identity.js";
import type { OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { endOfNumbers } from "../events/log-since.js";
import { actOnListedKeys, type ChangeOfKeys } from "../many-keys/many-keys.js";
import { decodeAll, findRecord, listPages } from "../read.js";
import { TagsOfOthers } from "./forget-sums.js";
import { type IdentityReference, identityWant } from "./reference.js";

/** Entries of the audit log read, or overwritten, in one step: some milliseconds on every store. */
export const ENTRIES_AT_ONCE = 200;

/** Most ids kept in memory during one pass over the log. */
export const MOST_KEPT = 10_000;

/** The user who is erased. */
export interface Subject {
  /** Null if unknown. */
  readonly externalId: string | null;
  /** All identities known to have had the `externalId`. */
  readonly identityIds: Set<string>;
  readonly tagsOfOthers: TagsOfOthers;
}

/** What one pass over the audit log found. */
interface Mentions {
  /** Entries that name the `externalId`, the earliest first. After the first, entries that a known identity leads to are left out. */
  readonly entryIds: readonly string[];
  /** Whether there may be more. */
  readonly hasMore: boolean;
}

/** What is known of a user, and the number of the latest entry before it was looked for. Null if nothing is. */
export async function findUser(context: OperationContext, input: IdentityReference) {
  const subject = await findSubject(context, input);
  if (subject === null) return null;
  const { last: readUpTo } = await endOfNumbers(context);
  const mentions = await findMentions(context, subject);
  const isKnown = subject.identityIds.size + mentions.entryIds.length > 0;
  return isKnown ? { subject, readUpTo, mentions } : null;
}

/** Null if the input names an identity by its id, and nothing is known of it. */
async function findSubject(
  context: OperationContext,
  input: IdentityReference,
): Promise<Subject | null> {
  const { identityId } = input;
  const record = await findRecord(context, identityWant(input));
  const identity = decodeOrNull(identityType, record?.record, context);
  if (identityId === undefined) {
    const ids = record === null ? [] : [record.record.id];
    return subjectOf(input.externalId ?? null, ids);
  }
  if (identity !== null) return subjectOf(identity.externalId, [identityId]);
  let externalId: string | null = null;
  let isKnown = record !== null;
  for await (const { found } of logPages(context, identityId))
    for (const loaded of found) {
      isKnown = true;
      const entry = decodeOrNull(auditEntryType, loaded.record, context);
      externalId ??= entry && externalIdOf(entry, identityId);
    }
  if (!isKnown) {
    const counting: ChangeOfKeys = { act: () => "unchanged", isLeft: null };
    const keys = await actOnListedKeys(context, { identityId }, counting);
    if (keys.unchanged === 0) return null;
  }
  return subjectOf(externalId, [identityId]);
}

function subjectOf(externalId: string | null, ids: readonly string[]): Subject {
  const identityIds = new Set(ids);
  return { externalId, identityIds, tagsOfOthers: new TagsOfOthers(identityIds) };
}

/** Searches the audit log, and adds the identities that had the `externalId` to the subject. */
export async function findMentions(context: OperationContext, subject: Subject): Promise<Mentions> {
  const { externalId, identityIds } = subject;
  const entryIds: string[] = [];
  if (externalId === null) return { entryIds, hasMore: false };
  const current = await findRecord(context, identityWant({ externalId }));
  if (current !== null) identityIds.add(current.record.id);
  for await (const page of logPages(context))
    for (const entry of decodeAll(auditEntryType, page, context)) {
      if (!namesExternalId(entry, externalId)) continue;
      if (entryIds.length > 0 && identityIds.has(entry.identityId ?? "")) continue;
      if (entryIds.length >= MOST_KEPT) return { entryIds, hasMore: true };
      entryIds.push(entry.id);
      const identityId = identityNamedBy(entry, externalId);
      if (identityId !== null) identityIds.add(identityId);
    }
  return { entryIds, hasMore: false };
}

/** All entries of the audit log, or those about a key or an identity, the earliest first. */
export function logPages(context: OperationContext, of?: string) {
  return listPages(context, { kind: "auditEntry", of, limit: ENTRIES_AT_ONCE });
}
