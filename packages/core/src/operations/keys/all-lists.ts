import { keysOfApi } from "../../records/key.js";
import type { RecordList } from "../../records/record-type.js";
import type { OperationContext } from "../context.js";

/** APIs read at once. */
const PAGE_SIZE = 1_000;

/** The lists of keys of all APIs: a key whose record cannot be read is in one of them. */
export async function listsOfAllApis({
  store,
  workspaceId,
}: OperationContext): Promise<readonly RecordList[]> {
  const lists: RecordList[] = [];
  let after: string | null = null;
  for (;;) {
    const { found, hasMore } = await store.page(workspaceId, {
      kind: "api",
      list: "api",
      after,
      limit: PAGE_SIZE,
    });
    for (const { record } of found) lists.push({ list: keysOfApi(record.id) });
    after = found.at(-1)?.record.id ?? null;
    if (!hasMore || after === null) return lists;
  }
}
