import { type AuditEntry, auditEntryType } from "../../records/audit-entry.js";
import { keysOfApi, keyType, tagType } from "../../records/key.js";
import type { StatisticsSubject } from "../../store/statistics.js";
import { type OperationContext, transact } from "../context.js";
import { deleteRecord } from "../damaged.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";
import { logSince } from "../events/log-since.js";
import { apiIds, decodeAll, listPages } from "../read.js";

const SUBJECTS_AT_ONCE = 200;

/** Keys that are read at once: some milliseconds on every store. */
const READ_AT_ONCE = 500;

/** After all statistics, at the start of a day. */
const END_OF_TIME = Date.UTC(9_999, 0, 1);

/** Tags that keys of others have, or had according to the audit log: their counts are not those of the given identities alone. */
export class TagsOfOthers {
  readonly #identityIds: ReadonlySet<string>;
  #known: { readonly tags: Set<unknown>; readonly size: number; readTo: number } | null = null;

  /** `identityIds`: may grow later. */
  constructor(identityIds: ReadonlySet<string>) {
    this.#identityIds = identityIds;
  }

  /**
   * Reads every key and the audit log, because nothing else has the tags; again only what was logged since, unless `identityIds` has grown.
   */
  async read(context: OperationContext): Promise<ReadonlySet<unknown>> {
    const { size } = this.#identityIds;
    if (this.#known?.size !== size)
      this.#known = { tags: await this.#readKeys(context), size, readTo: 0 };
    const known = this.#known;
    // Of earlier keys without an owner, only those that still exist are somebody else's.
    const isLater = known.readTo > 0;
    for await (const page of logSince(context, known.readTo)) {
      for (const entry of decodeAll(auditEntryType, page, context))
        if (entry.identityId === null ? isLater : !this.#identityIds.has(entry.identityId))
          for (const tag of tagsIn(entry)) known.tags.add(tag);
      known.readTo = Math.max(known.readTo, ...page.found.map(({ record }) => record.version));
    }
    return known.tags;
  }

  async #readKeys(context: OperationContext): Promise<Set<unknown>> {
    const others = new Set<unknown>();
    for await (const apiId of apiIds(context)) {
      const list = { kind: "key", list: keysOfApi(apiId), limit: READ_AT_ONCE } as const;
      for await (const page of listPages(context, list))
        for (const { identityId, tags } of decodeAll(keyType, page, context))
          if (identityId === null || !this.#identityIds.has(identityId))
            for (const tag of tags) others.add(tag);
    }
    return others;
  }
}

/** The tags that an entry says a key had, before or after. */
export function tagsIn(entry: AuditEntry | null): readonly unknown[] {
  return (entry?.fields ?? [])
    .filter(({ field }) => field === "tags")
    .flatMap(({ before, after }) => [before, after])
    .flat();
}

/** Deletes the statistics of keys, identities and tags, many in each step. */
export class SumsToForget {
  readonly #context: OperationContext;
  readonly #tagsOfOthers: TagsOfOthers;
  #waiting = new Map<string, StatisticsSubject>();

  constructor(context: OperationContext, tagsOfOthers: TagsOfOthers) {
    this.#context = context;
    this.#tagsOfOthers = tagsOfOthers;
  }

  async add(subject: StatisticsSubject): Promise<void> {
    this.#waiting.set(`${subject.kind} ${subject.id}`, subject);
    if (this.#waiting.size >= SUBJECTS_AT_ONCE) await this.end();
  }

  async addTags(tags: readonly unknown[]): Promise<void> {
    for (const id of tags) if (typeof id === "string") await this.add({ kind: "tag", id });
  }

  /** Deletes them, but no tags that somebody else's keys have by now. */
  async end(): Promise<void> {
    let of = [...this.#waiting.values()];
    this.#waiting = new Map();
    if (of.some(isTag)) {
      const others = await this.#tagsOfOthers.read(this.#context);
      of = of.filter((one) => !isTag(one) || !others.has(one.id));
    }
    if (of.length === 0) return;
    const { store, workspaceId, recorder } = this.#context;
    // Counts that this process has not written yet.
    await recorder?.flush(workspaceId);
    await deleteInBatches(this.#context, DELETED_AT_ONCE, (_, limit) =>
      store.deleteStatistics(workspaceId, END_OF_TIME, limit, of),
    );
    const tags = of.filter(isTag);
    if (tags.length === 0) return;
    await transact(this.#context, async ({ transaction }) => {
      for (const { id } of tags) await deleteRecord(transaction, tagType, id);
    });
  }
}

function isTag({ kind }: StatisticsSubject): boolean {
  return kind === "tag";
}
