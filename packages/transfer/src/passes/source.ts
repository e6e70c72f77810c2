import {
  type KeyStore,
  keysOfApi,
  type LoadedRecord,
  type PageResult,
  RECORD_LISTS,
  type RecordKind,
  WORKSPACE_ID_PATTERN,
} from "@latchkey/core";
import { withEach } from "../at-once.js";
import { type CopiedRecord, readCopied } from "../records/copied-record.js";
import { LOG, readLogEnd } from "../records/log-end.js";
import { assertListed } from "../records/own-list.js";
import { OwnedSubjects } from "../records/owned-subjects.js";
import { readUnownedSums, type UnownedSums } from "../records/unowned-sums.js";
import { type FoundWindows, readOwnWindows, scanAllWindows, scanned } from "../records/windows.js";
import { assertUsed, readState } from "../state.js";

/** A part of what is copied, in copying order. */
export type Part =
  /** A workspace starts. `record`: its own record, null if there is none. */
  | {
      readonly kind: "workspace";
      readonly workspaceId: string;
      readonly record: CopiedRecord | null;
    }
  /** The next records of a list, in ascending order of id; `isLast` for the last of them, which may be empty. */
  | {
      readonly kind: "records";
      readonly of: RecordList;
      readonly records: readonly CopiedRecord[];
      readonly isLast: boolean;
    }
  /** The next sums of subjects that are gone, in their order; `isLast` for the last of them, which may be empty. */
  | { readonly kind: "statistics"; readonly sums: readonly UnownedSums[]; readonly isLast: boolean }
  /** All windows of the workspace. */
  | { readonly kind: "windows"; readonly windows: FoundWindows };

/** A list of records of one kind. */
export interface RecordList {
  readonly kind: RecordKind;
  readonly list: string;
  /** For the audit log, the highest number that an entry ever had. Absent in backups from versions that did not store it. */
  readonly last?: number | undefined;
}

/** Records in one part, and in one change of the target. */
export const PART_SIZE = 500;

/** The workspaces of a store, in ascending order. */
export async function workspacesOf(store: KeyStore): Promise<readonly string[]> {
  const ids = new Set<string>();
  for await (const id of scanned(store, null)) if (WORKSPACE_ID_PATTERN.test(id)) ids.add(id);
  return [...ids].sort();
}

/** @throws LatchkeyError `STORE_UNAVAILABLE` if a workspace is incomplete or has moved. */
export async function assertReadable(store: KeyStore): Promise<void> {
  await withEach(await workspacesOf(store), async (id) => {
    const { state } = await readState(store, id);
    if (state !== null) assertUsed(id, state.state);
  });
}

/** Everything that a store has in these workspaces. */
export async function* storeParts(
  store: KeyStore,
  workspaceIds: readonly string[],
): AsyncGenerator<Part> {
  const names = workspaceIds.length > 1 ? await scanAllWindows(store) : null;
  for (const workspaceId of workspaceIds) {
    const record = await readWorkspaceRecord(store, workspaceId);
    yield { kind: "workspace", workspaceId, record };
    const owned = new OwnedSubjects();
    const lists: RecordList[] = [...RECORD_LISTS];
    // It grows: the APIs add their lists of keys.
    for (const list of lists) {
      const last = list.kind === LOG ? await readLogEnd(store, workspaceId) : undefined;
      const of = { ...list, ...(last !== undefined && { last }) };
      for await (const { found, hasMore } of pagesOf(store, workspaceId, list)) {
        const keys = found.map(({ record: { id } }): RecordList => {
          return { kind: "key", list: keysOfApi(id) };
        });
        if (of.kind === "api") lists.splice(lists.indexOf(list) + 1, 0, ...keys);
        const records = await readCopied(store, workspaceId, found);
        if (of.kind === "key") assertListed(records, of.list);
        owned.add(found.map(({ record }) => record));
        yield { kind: "records", of, records, isLast: !hasMore };
      }
    }
    for await (const sums of readUnownedSums(store, workspaceId, owned))
      yield { kind: "statistics", sums, isLast: false };
    yield { kind: "statistics", sums: [], isLast: true };
    yield { kind: "windows", windows: await readOwnWindows(store, workspaceId, names) };
  }
}

/** The parts of empty workspaces. */
export async function* emptyParts(workspaceIds: readonly string[]): AsyncGenerator<Part> {
  for (const workspaceId of workspaceIds) {
    yield { kind: "workspace", workspaceId, record: null };
    for (const of of RECORD_LISTS) yield { kind: "records", of, records: [], isLast: true };
    yield { kind: "statistics", sums: [], isLast: true };
    yield { kind: "windows", windows: new Map() };
  }
}

/** The number of records in the lists of workspaces, from the sizes that their pages return. */
export async function countRecords(
  store: KeyStore,
  workspaceIds: readonly string[],
): Promise<number> {
  let count = 0;
  await withEach(workspaceIds, async (workspaceId) => {
    const add = async (of: RecordList) => {
      const { size } = await store.page(workspaceId, { ...of, after: null, limit: 1 });
      count += size;
    };
    for (const of of RECORD_LISTS) await add(of);
    for await (const { found } of pagesOf(store, workspaceId, { kind: "api", list: "api" }))
      for (const { record } of found) await add({ kind: "key", list: keysOfApi(record.id) });
  });
  return count;
}

/** The own record of a workspace. */
export async function readWorkspaceRecord(
  store: KeyStore,
  workspaceId: string,
): Promise<CopiedRecord | null> {
  const { found } = await store.read(workspaceId, [{ kind: "workspace", id: workspaceId }]);
  const loaded = found.filter((each): each is LoadedRecord => each !== null);
  const [record = null] = await readCopied(store, workspaceId, loaded);
  return record;
}

/** A list, page by page; at least one page. */
export async function* pagesOf(
  store: KeyStore,
  workspaceId: string,
  of: RecordList,
  from: string | null = null,
): AsyncGenerator<PageResult> {
  let after = from;
  for (;;) {
    const page: PageResult = await store.page(workspaceId, { ...of, after, limit: PART_SIZE });
    yield page;
    after = page.found.at(-1)?.record.id ?? null;
    if (!page.hasMore || after === null) return;
  }
}
