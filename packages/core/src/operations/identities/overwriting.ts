import { erasedEntry, namesExternalId } from "../../audit/entry.js";
import { yieldToEventLoop } from "../../lib/promises.js";
import { type AuditEntry, auditEntryType } from "../../records/audit-entry.js";
import { unwrittenWorkspace, workspaceType } from "../../records/workspace.js";
import type { LoadedRecord } from "../../store/key-store.js";
import { type OperationContext, transact, type Work } from "../context.js";
import { decodeOrNull, readStored } from "../damaged.js";
import { findRecords, wantsOf } from "../read.js";
import { ENTRIES_AT_ONCE, type Subject } from "./find-user.js";
import { SumsToForget, tagsIn } from "./forget-sums.js";

/** Whether an entry names the user's `externalId`. */
export function isNamed(entry: AuditEntry, { externalId }: Subject): boolean {
  return externalId !== null && namesExternalId(entry, externalId);
}

/** Entries of the audit log by their ids; those that are gone are left out. */
export async function readEntries(context: OperationContext, ids: readonly string[]) {
  const found = await findRecords(context, wantsOf("auditEntry", ids));
  return found.filter((loaded) => loaded !== null);
}

/**
 * Reads entries so that no other erasure can overwrite them before the commit: it would bring back an actor that this one removes. An entry
 * keeps its version, so erasures of a workspace conflict at the workspace's own record, which each of them rewrites.
 */
export async function readToOverwrite({ context, transaction }: Work, ids: readonly string[]) {
  const { workspaceId } = context;
  const stored = await readStored(transaction, { kind: "workspace", id: workspaceId });
  if (stored === null) transaction.putAnew(workspaceType.encode(unwrittenWorkspace(workspaceId)));
  else if (decodeOrNull(workspaceType, stored, context) !== null) transaction.putAnew(stored);
  return readEntries(context, ids);
}

/** Overwrites entries, many in each step. */
export class Overwriting {
  readonly #context: OperationContext;
  readonly #subject: Subject;
  readonly #isWanted: (entry: AuditEntry) => boolean;
  readonly #sums: SumsToForget;
  #waiting = new Map<string, LoadedRecord>();
  #count = 0;

  /** `round`: a context whose counts a repeat includes. */
  constructor(round: OperationContext, subject: Subject, isWanted: (entry: AuditEntry) => boolean) {
    this.#context = round;
    this.#subject = subject;
    this.#isWanted = isWanted;
    this.#sums = new SumsToForget({ ...round, call: null }, subject.tagsOfOthers);
  }

  async add(found: readonly LoadedRecord[]): Promise<void> {
    for (const loaded of found)
      if (this.#isDue(loaded)) this.#waiting.set(loaded.record.id, loaded);
    if (this.#waiting.size >= ENTRIES_AT_ONCE) await this.end();
  }

  #isDue({ record }: LoadedRecord): boolean {
    const entry = decodeOrNull(auditEntryType, record, this.#context);
    if (entry === null) return JSON.stringify(record.body) !== JSON.stringify(NOTHING_LEFT);
    const isDone = entry.erased && !isNamed(entry, this.#subject);
    return entry.type !== "identity.erased" && !isDone && this.#isWanted(entry);
  }

  /** Overwrites the waiting entries. @returns How many entries were overwritten in all. */
  async end(): Promise<number> {
    const waiting = [...this.#waiting.values()];
    this.#waiting = new Map();
    if (waiting.length === 0) return this.#count;
    // Counts of tags go first: only these entries still name the tags.
    for (const { record } of waiting)
      await this.#sums.addTags(tagsIn(decodeOrNull(auditEntryType, record, this.#context)));
    await this.#sums.end();
    const answer = await transact(this.#context, async (work) => {
      const ids = waiting.map(({ record }) => record.id);
      const found = await readToOverwrite(work, ids);
      for (const loaded of found) overwrite(work, loaded, this.#subject);
      return found.length;
    });
    this.#count += answer;
    await yieldToEventLoop();
    return this.#count;
  }
}

/** What is left of an entry that could not be read. */
const NOTHING_LEFT = { erased: true } as const;

/** Overwrites an entry with what {@link erasedEntry} leaves of it. */
export function overwrite(
  { transaction }: Work,
  loaded: LoadedRecord,
  { externalId }: Subject,
): void {
  const { record } = loaded;
  transaction.expectFound(loaded, "exists");
  const entry = decodeOrNull(auditEntryType, record, transaction);
  if (entry === null) transaction.rewrite({ ...record, version: 0, body: NOTHING_LEFT });
  else transaction.update(auditEntryType, entry, erasedEntry(entry, externalId));
}
