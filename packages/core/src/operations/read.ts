import { corruptRecord, unavailable } from "../errors.js";
import { encodeCursor, type ListScope } from "../lib/cursor.js";
import { yieldToEventLoop } from "../lib/promises.js";
import { withoutNull } from "../lib/without-null.js";
import type { RecordKind, RecordType } from "../records/record-type.js";
import type { Usage } from "../store/counters.js";
import type { LoadedRecord, PageResult, PageWant, Want } from "../store/key-store.js";
import type { Transaction } from "../store/transaction.js";
import { afterCursor, notFound, type OperationContext } from "./context.js";
import { decodeOrNull } from "./damaged.js";
import { pageInput } from "./input.js";
import { operation } from "./operation.js";

/** Rounds after which an operation gives up on a record that keeps changing. */
export const MAX_ROUNDS = 100;

/** Tries until the data did not change during an attempt (undefined). @throws LatchkeyError `STORE_UNAVAILABLE` after 100 rounds. */
export async function untilSteady<Result>(
  what: string,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw unavailable(what);
}

/** A record, with everything that the store keeps beside it. */
export interface FoundRecord<Value> {
  readonly value: Value;
  readonly loaded: LoadedRecord;
  /** Revision of the workspace when the record was read. */
  readonly revision: number;
}

/** The ids of those of these APIs that exist. */
export async function existingApis(
  transaction: Transaction,
  apiIds: ReadonlySet<string>,
): Promise<ReadonlySet<string | undefined>> {
  const apis = await transaction.read(wantsOf("api", apiIds));
  return new Set(apis.map((api) => api?.record.id));
}

/** The store, and the workspace that an operation reads. */
type Reading = Pick<OperationContext, "store" | "workspaceId">;

/** Wants for records by their ids; a transaction expects nothing of them. */
export function wantsOf<Kind extends RecordKind>(kind: Kind, ids: Iterable<string>) {
  return Array.from(ids, (id) => ({ kind, id, expects: "nothing" }) as const);
}

/** Stored records, which may be damaged; null for each that is not there. */
export async function findRecords({ store, workspaceId }: Reading, wants: readonly Want[]) {
  return (await store.read(workspaceId, wants)).found;
}

/** A stored record, which may be damaged; null if there is none. */
export async function findRecord(
  { store, workspaceId }: Reading,
  want: Want,
): Promise<LoadedRecord | null> {
  const { found } = await store.read(workspaceId, [want]);
  return found[0] ?? null;
}

/** The id of a record that exists, damaged or not. @throws LatchkeyError `NOT_FOUND`. */
export async function requireId(context: OperationContext, want: Want): Promise<string> {
  const loaded = await findRecord(context, want);
  if (loaded === null) throw notFound(want.kind);
  return loaded.record.id;
}

/** Reads one record. `of`: its id, or how to find it. @throws LatchkeyError `NOT_FOUND`, `STORE_CORRUPT` if it is damaged. */
export async function readRecord<Value>(
  { store, workspaceId }: OperationContext,
  type: RecordType<Value>,
  of: string | Want,
): Promise<FoundRecord<Value>> {
  const { revision, found } = await store.read(workspaceId, [wantOf(type, of)]);
  const [loaded = null] = found;
  if (loaded === null) throw notFound(type.kind);
  return { value: type.decode(loaded.record, workspaceId), loaded, revision };
}

/** The use counter of a record that has one. @throws LatchkeyError `STORE_CORRUPT` if it is missing. */
export function usageOf({ record, usage }: LoadedRecord): Usage {
  if (usage === null) throw corruptRecord(`counter of ${record.kind} ${record.id}`);
  return usage;
}

/** Reads one record in a transaction, which then expects this version of it. Throws like {@link readRecord}. */
export async function readRecordIn<Value>(
  transaction: Transaction,
  type: RecordType<Value>,
  of: string | Want,
): Promise<Omit<FoundRecord<Value>, "revision">> {
  const loaded = await transaction.readOne(wantOf(type, of));
  if (loaded === null) throw notFound(type.kind);
  return { value: type.decode(loaded.record, transaction.workspaceId), loaded };
}

function wantOf({ kind }: Pick<RecordType<unknown>, "kind">, of: string | Want): Want {
  return typeof of === "string" ? { kind, id: of } : of;
}

/** What every page of a list has. */
export interface PageInfo {
  /** Damaged records that were left out of this page; absent: none. */
  readonly damaged?: number;
  /** Cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

/** A page of records of one kind. Damaged ones are left out and counted: a damaged record must not hide those after it. */
export interface Page<Value> {
  readonly items: readonly Value[];
  readonly total: number;
  readonly info: PageInfo;
}

/** A part of a list. Default: the list of all records of the kind, from its beginning. */
type ListPart = Partial<PageWant> & Pick<PageWant, "kind" | "limit">;

export function readList({ store, workspaceId }: Reading, part: ListPart): Promise<PageResult> {
  return store.page(workspaceId, { list: part.kind, after: null, ...part });
}

/** The id that the next page starts after; null on the last page. */
export function nextAfter({ found, hasMore }: PageResult): string | null {
  return hasMore ? (found.at(-1)?.record.id ?? null) : null;
}

/** Reads a page of a list. `want`: default: all records of the kind, in ascending order of their ids. */
export async function readPage<Value>(
  context: OperationContext,
  type: RecordType<Value>,
  scope: ListScope,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  want: Partial<Pick<PageWant, "list" | "of" | "descending">> = {},
): Promise<Page<Value>> {
  const after = afterCursor(scope, cursor);
  const page = await readList(context, { kind: type.kind, after, limit, ...want });
  const items = decodeAll(type, page, context);
  const damaged = page.found.length - items.length;
  return { items, total: page.size, info: pageInfo(scope, damaged, nextAfter(page)) };
}

/** Most records read for a filtered page. */
const MAX_SCANNED = 2_000;

/** Reads a page of the matching records of a kind. It ends after the last record read, matching or not: it may be short, or empty. */
export async function findPage<Value>(
  context: OperationContext,
  type: RecordType<Value>,
  scope: ListScope,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  isWanted: (value: Value) => boolean,
): Promise<Page<Value> & { readonly scanned: number }> {
  const items: Value[] = [];
  let after = afterCursor(scope, cursor);
  let damaged = 0;
  let scanned = 0;
  for (;;) {
    const page = await readList(context, { kind: type.kind, after, limit: PAGE_SIZE });
    let unread = page.found.length;
    for (const { record } of page.found) {
      if (items.length === limit) break;
      const value = decodeOrNull(type, record, context);
      if (value === null) damaged += 1;
      else if (isWanted(value)) items.push(value);
      after = record.id;
      unread -= 1;
      scanned += 1;
    }
    const hasMore = page.hasMore || unread > 0;
    if (hasMore && unread === 0 && items.length < limit && scanned < MAX_SCANNED) continue;
    const info = pageInfo(scope, damaged, hasMore ? after : null);
    return { items, total: page.size, scanned, info };
  }
}

/** An operation that returns a page of all records of a kind. `show`: builds the part of the result that has the records. */
export function pagesOf<Value, Answer extends object>(
  type: RecordType<Value>,
  list: ListScope["list"],
  show: (values: readonly Value[], context: OperationContext) => Answer,
) {
  return operation(
    pageInput,
    async (context, page): Promise<Answer & PageInfo & { readonly total: number }> => {
      const scope = { list, ownerId: context.workspaceId };
      const { items, total, info } = await readPage(context, type, scope, page);
      return { ...show(items, context), total, ...info };
    },
    { omitted: {} },
  );
}

/** The records of a page that are not damaged. */
export function decodeAll<Value>(
  type: RecordType<Value>,
  { found }: Pick<PageResult, "found">,
  scope: Pick<OperationContext, "workspaceId">,
): readonly Value[] {
  return found
    .map(({ record }) => decodeOrNull(type, record, scope))
    .filter((value) => value !== null);
}

/** What a list returns about a page. `last`: the position where the next page continues; null if there is none. */
export function pageInfo(scope: ListScope, damaged: number, last: string | null): PageInfo {
  const cursor = last === null ? null : encodeCursor(scope, last);
  return withoutNull({ damaged: damaged || null, cursor });
}

/** Records per read of a list that is read as a whole. */
const PAGE_SIZE = 500;

/** All pages of a list, in ascending order of the ids. Other calls get through between two of them. */
export async function* listPages(
  context: Reading,
  part: Omit<ListPart, "after">,
): AsyncGenerator<PageResult, void, undefined> {
  for (let after: string | null = null; ; ) {
    const page: PageResult = await readList(context, { ...part, after });
    yield page;
    after = nextAfter(page);
    if (after === null) return;
    // A store without I/O never lets others through by itself.
    await yieldToEventLoop();
  }
}

function allPages(context: OperationContext, kind: RecordKind) {
  return listPages(context, { kind, limit: PAGE_SIZE });
}

/** The ids of all APIs, damaged ones too. */
export async function* apiIds(context: OperationContext): AsyncGenerator<string, void, undefined> {
  for await (const { found } of allPages(context, "api"))
    for (const { record } of found) yield record.id;
}

/** All records of a kind, except damaged ones. */
export async function readAll<Value>(
  context: OperationContext,
  type: RecordType<Value>,
): Promise<{ readonly revision: number; readonly values: readonly Value[] }> {
  const values: Value[] = [];
  let revision = 0;
  for await (const page of allPages(context, type.kind)) {
    values.push(...decodeAll(type, page, context));
    revision = page.revision;
  }
  return { revision, values };
}
