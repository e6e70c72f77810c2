import {
  type Change,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  type Claim,
  EMPTY_CHANGE,
  type KeyStore,
  type LoadedRecord,
  type Put,
  type StoredRecord,
} from "@latchkey/core";

export const NOW = Date.UTC(2030, 0, 15, 12);
export const WORKSPACE = "ws_default";

export function keyIdOf(number: number): string {
  return `key_${String(number).padStart(12, "0")}`;
}

/** The claim by which a key is found. */
export function hashOf(number: number): Claim {
  return { kind: "key", index: "hash", value: `hash-of-${number}` };
}

/** Commits a change of which only some fields are given. */
export function commit(store: KeyStore, change: Partial<Change>) {
  return store.commit(WORKSPACE, { ...EMPTY_CHANGE, ...change });
}

export function aRecord(number = 1, fields: Partial<StoredRecord> = {}): StoredRecord {
  return {
    kind: "key",
    id: keyIdOf(number),
    version: 1,
    link: null,
    body: { name: `key ${number}` },
    ...fields,
  };
}

export function anIdentity(number = 1): StoredRecord {
  return { ...aRecord(number), kind: "identity", id: `id_${number}` };
}

/** A record with a number of uses. */
export function withUses(record: StoredRecord, remaining: number | null): Put {
  return { record, counters: { usage: { remaining, refilledAt: NOW, lastRefillAt: null } } };
}

/** Writes a key with a number of uses, its hash and its place in the list of keys, and loads it. */
export async function withKey(
  store: KeyStore,
  number = 1,
  remaining: number | null = null,
  fields: Partial<StoredRecord> = {},
): Promise<LoadedRecord> {
  const record = aRecord(number, fields);
  await commit(store, {
    expects: [{ kind: "key", id: record.id, version: null }],
    puts: [withUses(record, remaining)],
    claims: [{ ...hashOf(number), id: record.id }],
    enters: [{ list: "keys", id: record.id }],
  });
  return load(store, number);
}

/** Deletes a key with everything that {@link withKey} wrote. */
export function deleteKey(store: KeyStore, number = 1) {
  const id = keyIdOf(number);
  return commit(store, {
    expects: [{ kind: "key", id, version: "exists" }],
    deletes: [{ kind: "key", id }],
    releases: [{ ...hashOf(number), id }],
    leaves: [{ list: "keys", id }],
  });
}

export async function find(store: KeyStore, number = 1): Promise<LoadedRecord | null> {
  const { found } = await store.read(WORKSPACE, [{ kind: "key", id: keyIdOf(number) }]);
  return found[0] ?? null;
}

export async function load(store: KeyStore, number = 1): Promise<LoadedRecord> {
  return (await find(store, number)) as LoadedRecord;
}

/** A plan that takes one use of the first of some records. */
export function aPlan(
  records: LoadedRecord | readonly LoadedRecord[],
  fields: Partial<ChargePlan> = {},
): ChargePlan {
  const confirmed = "record" in records ? [records] : records;
  return {
    workspaceId: WORKSPACE,
    revision: null,
    confirms: confirmed.map(({ record: { kind, id, version }, handle }) => ({
      kind,
      id,
      version,
      handle,
    })),
    mode: "commit",
    cost: 1,
    uses: 0,
    limits: [],
    ...fields,
  };
}

/** One unit of a limit of 10 a minute. */
export function aLimit(window: string, owner: number | null) {
  const figures = { algorithm: "fixed", limit: 10, duration: 60_000, burst: 10 } as const;
  return { name: window, ...figures, shadow: false, cost: 1, window, owner };
}

const MOMENT: ChargeMoment = { now: NOW, refill: null };

/** Charges, and rejects even if the store throws synchronously. */
export async function charge(
  store: KeyStore,
  plan: ChargePlan,
  moment: Partial<ChargeMoment> = {},
): Promise<ChargeResult> {
  return store.charge(plan, { ...MOMENT, ...moment });
}

/** The first keys of the list that {@link withKey} writes them into. */
export function pageOfKeys(store: KeyStore, limit = 10, after: string | null = null) {
  return store.page(WORKSPACE, { kind: "key", list: "keys", after, limit });
}
