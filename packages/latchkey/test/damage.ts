import { EMPTY_CHANGE, type KeyStore, type RecordKind, type StoredRecord } from "@latchkey/core";

const WORKSPACE = "ws_default";

type Body = Readonly<Record<string, unknown>>;

/** Overwrites a record without latchkey's knowledge. Its list entries, claims and counters stay. */
export async function overwrite(
  store: KeyStore,
  kind: RecordKind,
  id: string,
  workspaceId: string,
  change: (record: StoredRecord) => StoredRecord,
): Promise<void> {
  const { found } = await store.read(workspaceId, [{ kind, id }]);
  const loaded = found[0] ?? null;
  if (loaded === null) throw new Error(`there is no ${kind} ${id} to damage`);
  await store.commit(workspaceId, { ...EMPTY_CHANGE, puts: [{ record: change(loaded.record) }] });
}

/** Replaces the body of a record, and keeps its version. */
export function damageBody(
  store: KeyStore,
  kind: RecordKind,
  id: string,
  change: (body: Body) => unknown,
  workspaceId = WORKSPACE,
): Promise<void> {
  return overwrite(store, kind, id, workspaceId, (record) => ({
    ...record,
    body: change(record.body as Body) as StoredRecord["body"],
  }));
}

/** A way in which a record becomes unreadable. */
export interface Damage {
  readonly kind: string;
  readonly damage: (
    store: KeyStore,
    kind: RecordKind,
    id: string,
    workspaceId?: string,
  ) => Promise<void>;
}

/** Damages that leave nothing readable. If the version of a record is unreadable, stores return version 0. */
export const DAMAGES: readonly [Damage, Damage] = [
  {
    kind: "a body that is not what was written",
    damage: (store, kind, id, workspaceId) =>
      damageBody(store, kind, id, () => ({ broken: true }), workspaceId),
  },
  {
    kind: "a version that cannot be read",
    damage: (store, kind, id, workspaceId = WORKSPACE) =>
      overwrite(store, kind, id, workspaceId, (record) => ({ ...record, version: 0 })),
  },
];

/** A value that no member of a body can have. */
const SPOILT = { spoilt: true };

/** One damage for each member of the body of a record. It replaces only that member. */
export async function damagesOfMembers(
  store: KeyStore,
  kind: RecordKind,
  id: string,
  workspaceId?: string,
): Promise<readonly Damage[]> {
  const { found } = await store.read(workspaceId ?? WORKSPACE, [{ kind, id }]);
  return Object.keys(found[0]?.record.body ?? {}).map((name) => ({
    kind: name,
    damage: (store, kind, id, workspaceId) =>
      damageBody(store, kind, id, (body) => ({ ...body, [name]: SPOILT }), workspaceId),
  }));
}
