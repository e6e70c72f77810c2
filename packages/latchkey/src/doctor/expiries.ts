import { EMPTY_CHANGE, LAST_INSTANT, type LoadedRecord, type StoredRecord } from "@latchkey/core";
import { plural } from "../command-line/words.js";
import type { DoctorContext } from "./doctor-context.js";
import { type Finding, mendable } from "./finding.js";
import { layoutOrNull, unchanged } from "./lists.js";

/** Looks for expiries that `notice` would miss: of keys last written by an earlier version. */
export async function* checkExpiries(
  { latchkey, store, fix }: DoctorContext,
  records: readonly LoadedRecord[],
): AsyncIterable<Finding> {
  const { workspaceId } = latchkey;
  const now = latchkey.now();
  const expiring = records.flatMap((loaded) => {
    const expiry = layoutOrNull(loaded, workspaceId)?.expiry ?? null;
    // Past ones may have been noticed already, and those beyond the last date never occur.
    if (expiry === null || expiry.at <= now || expiry.at > LAST_INSTANT) return [];
    return [{ loaded, deadlines: expiry.deadlines }];
  });
  const { found } = await store.read(
    workspaceId,
    expiring.flatMap(({ deadlines }) => deadlines.map(({ kind, id }) => ({ kind, id }))),
  );
  const known = new Set(found.map((deadline) => deadline?.record.id));
  const missed = expiring.filter(({ deadlines }) => !deadlines.some(({ id }) => known.has(id)));
  const unknown = await unchanged(store, workspaceId, missed);
  if (unknown.length === 0) return;
  const what = `${plural(unknown.length, "key")} will expire without being noticed`;
  yield await mendable("expiries", what, fix, async () => {
    for (const { loaded, deadlines } of unknown) {
      const record = deadlines.at(-1) as StoredRecord;
      const { kind, id, version } = loaded.record;
      // A key that changes meanwhile gets its deadline with that change.
      await store.commit(workspaceId, {
        ...EMPTY_CHANGE,
        expects: [{ kind, id, version, handle: loaded.handle }],
        puts: [{ record }],
        enters: [{ list: record.kind, id: record.id }],
      });
    }
  });
}
