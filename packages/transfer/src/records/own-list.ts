import {
  corruptRecord,
  isKeyInList,
  type KeyStore,
  keysOfApi,
  type StoredRecord,
} from "@latchkey/core";
import { withEach } from "../at-once.js";
import type { CopiedRecord, Difference } from "./copied-record.js";

// A key is in the list of its API. One that names another API is damaged: in the target it would be in the list of that one, and nobody
// would find it.

const listOf = ({ body }: StoredRecord): string => keysOfApi(String(Object(body).apiId));

/** @throws LatchkeyError `STORE_CORRUPT` if one of the keys of this list belongs into another one. */
export function assertListed(keys: readonly CopiedRecord[], list: string): void {
  const stray = keys.find(({ record }) => listOf(record) !== list);
  if (stray !== undefined) throw corruptRecord(`key ${stray.record.id}`);
}

/**
 * Checks keys that were found by their id: those that the target does not have, or has in another list.
 *
 * @throws LatchkeyError `STORE_CORRUPT` if the source has a key in a list other than that of its API.
 */
export async function assertInOwnList(
  store: KeyStore,
  workspaceId: string,
  differences: readonly Difference[],
): Promise<void> {
  const doubtful = differences.flatMap(({ wanted, present }) => {
    if (wanted?.record.kind !== "key") return [];
    const isKnown = present !== null && listOf(present.record) === listOf(wanted.record);
    return isKnown ? [] : [wanted.record];
  });
  await withEach(doubtful, async (record) => {
    const { kind, id, version } = record;
    if (await isKeyInList(store, workspaceId, listOf(record), id)) return;
    // It may have been deleted before its list was read.
    const { found } = await store.read(workspaceId, [{ kind, id }]);
    if (found[0]?.record.version === version) throw corruptRecord(`key ${id}`);
  });
}
