import { encodeCursor, type ListScope } from "../lib/cursor.js";
import type { RecordType } from "../records/record-type.js";
import type { LoadedRecord, PageResult } from "../store/key-store.js";
import { afterCursor, type OperationContext } from "./context.js";
import { decodeOrNull } from "./damaged.js";

/** A page as every list answers it, beside its items. */
export interface PageInfo {
  /** Records of this page that are damaged and left out; absent where there are none. */
  readonly damaged?: number;
  /** Of the next page; absent on the last one. */
  readonly cursor?: string;
}

/** A record of a page, with what the store keeps beside it. */
export interface PageItem<Value> {
  readonly value: Value;
  readonly loaded: LoadedRecord;
}

/** Reads a page of records of one kind. Damaged ones are left out and counted: one must not hide those after it. */
export async function readPage<Value>(
  { store, workspaceId }: OperationContext,
  type: RecordType<Value>,
  list: string,
  scope: ListScope,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<{
  readonly items: readonly PageItem<Value>[];
  readonly total: number;
  readonly info: PageInfo;
}> {
  const after = afterCursor(scope, page.cursor);
  const result = await store.page(workspaceId, { kind: type.kind, list, after, limit: page.limit });
  const items = result.found.flatMap((loaded) => {
    const value = decodeOrNull(type, loaded.record, workspaceId);
    return value === null ? [] : [{ value, loaded }];
  });
  const damaged = result.found.length - items.length;
  return { items, total: result.size, info: pageInfo(scope, result, damaged) };
}

/** What a list answers about a page. */
export function pageInfo(scope: ListScope, page: PageResult, damaged: number): PageInfo {
  const lastId = page.found.at(-1)?.record.id;
  return {
    ...(damaged > 0 && { damaged }),
    ...(page.hasMore && lastId !== undefined && { cursor: encodeCursor(scope, lastId) }),
  };
}

/** Records read at once of a list that is answered as a whole. */
const PAGE_SIZE = 500;

/** All records of a kind, page by page. */
export async function readAll<Value>(
  { store, workspaceId }: OperationContext,
  type: RecordType<Value>,
): Promise<{ readonly revision: number; readonly values: readonly Value[] }> {
  const values: Value[] = [];
  let after: string | null = null;
  for (;;) {
    const page: PageResult = await store.page(workspaceId, {
      kind: type.kind,
      list: type.kind,
      after,
      limit: PAGE_SIZE,
    });
    for (const { record } of page.found) {
      const value = decodeOrNull(type, record, workspaceId);
      if (value !== null) values.push(value);
    }
    after = page.found.at(-1)?.record.id ?? null;
    if (!page.hasMore || after === null) return { revision: page.revision, values };
  }
}
