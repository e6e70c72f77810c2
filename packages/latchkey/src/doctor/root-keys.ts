import { DIRECTORY_ID, EMPTY_CHANGE, type LoadedRecord } from "@latchkey/core";
import { recordPages } from "../command-line/record-pages.js";
import type { DoctorContext } from "./doctor-context.js";
import { type Finding, mendable } from "./finding.js";
import { layoutOrNull, unchanged } from "./lists.js";

/**
 * Reports root keys that the directory of all workspaces does not lead to: they authorise nothing. On a Redis Cluster, the directory lies on
 * one primary and the root key on another, and a failover may lose the first alone.
 */
export async function* checkRootKeys(
  { latchkey, store, fix }: DoctorContext,
  look: (loaded: LoadedRecord) => void,
): AsyncIterable<Finding> {
  for await (const records of recordPages(latchkey, store, { kind: "rootKey", list: "rootKey" })) {
    for (const loaded of records) look(loaded);
    const pointers = records.flatMap((loaded) => {
      const { pointer = null } = layoutOrNull(loaded, latchkey.workspaceId) ?? {};
      return pointer === null ? [] : [{ loaded, record: pointer }];
    });
    const wants = pointers.map(({ record: { kind, id } }) => ({ kind, id }));
    const { found } = await store.read(DIRECTORY_ID, wants);
    const lost = pointers.filter((_, at) => found[at] === null);
    for (const { record } of await unchanged(store, latchkey.workspaceId, lost)) {
      const { rootKeyId } = record.body as { readonly rootKeyId: string };
      const expects = [{ kind: record.kind, id: record.id, version: null }];
      const change = { ...EMPTY_CHANGE, expects, puts: [{ record }] };
      yield await mendable("names", `rootKey ${rootKeyId}: its hash leads nowhere`, fix, () =>
        store.commit(DIRECTORY_ID, change),
      );
    }
  }
}
