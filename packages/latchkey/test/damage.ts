import { EMPTY_CHANGE, type KeyStore, type RecordKind, type StoredRecord } from "@latchkey/core";

const WORKSPACE = "ws_default";

type Body = Readonly<Record<string, unknown>>;

/** Overwrites a record of the default workspace behind latchkey's back: its list entries, claims and counters stay. */
async function overwrite(
  store: KeyStore,
  kind: RecordKind,
  id: string,
  change: (record: StoredRecord) => StoredRecord,
): Promise<void> {
  const { found } = await store.read(WORKSPACE, [{ kind, id }]);
  const loaded = found[0] ?? null;
  if (loaded === null) throw new Error(`there is no ${kind} ${id} to damage`);
  await store.commit(WORKSPACE, { ...EMPTY_CHANGE, puts: [{ record: change(loaded.record) }] });
}

/** Writes another body for a record, under the version that it has. */
export function damageBody(
  store: KeyStore,
  kind: RecordKind,
  id: string,
  change: (body: Body) => unknown,
): Promise<void> {
  return overwrite(store, kind, id, (record) => ({
    ...record,
    body: change(record.body as Body) as StoredRecord["body"],
  }));
}

/** The ways in which a record becomes unreadable. Of one whose version cannot be read a store answers version 0. */
export const DAMAGES = [
  {
    kind: "a body that is not what was written",
    damage: (store: KeyStore, kind: RecordKind, id: string) =>
      damageBody(store, kind, id, () => ({ broken: true })),
  },
  {
    kind: "a version that cannot be read",
    damage: (store: KeyStore, kind: RecordKind, id: string) =>
      overwrite(store, kind, id, (record) => ({ ...record, version: 0 })),
  },
] as const;
