import {
  aChange,
  aLimit,
  aPlan,
  aRecord,
  aRequest,
  at,
  NOW,
  usesOf,
  WORKSPACE,
} from "@latchkey/conformance";
import type {
  Change,
  ChargePlan,
  HoldStep,
  KeyStore,
  LoadedRecord,
  StoredRecord,
} from "@latchkey/core";

const IDENTITY = aRecord("identity");
const LONG = { text: "m".repeat(600) };

/** The claim of a key, like that of its hash. */
export function nameOf({ id }: StoredRecord) {
  return { kind: "key", index: "hash", value: `hash-${id}` } as const;
}

/** A key of the tests, linked to the one identity. */
export function aKey(number: number): StoredRecord {
  return aRecord("key", number, { link: IDENTITY.id });
}

/** A change that writes a new key with an entry of the audit log. */
export function creationOf(key: StoredRecord, counters = { usage: usesOf(9) }): Partial<Change> {
  const entry = aRecord("auditEntry", 1);
  return {
    expects: [
      { ...at("api"), version: "exists" },
      { kind: "key", id: key.id, version: null },
    ],
    puts: [{ record: key, counters }, { record: entry }],
    claims: [{ ...nameOf(key), id: key.id }],
    enters: [
      { list: "keys", id: key.id },
      { list: "audit", id: entry.id },
      { list: "audit", of: key.id, id: entry.id },
    ],
  };
}

/** Verifications of one key and of one API. */
export const STATISTICS = {
  counts: [
    {
      subject: { kind: "api", id: "api_1" },
      hourAt: NOW - (NOW % 3_600_000),
      code: "VALID",
      count: 1,
    },
  ],
  uses: [
    { ...at("key"), usedAt: NOW },
    { ...at("identity"), usedAt: NOW },
  ],
} as const;

/** A plan that takes a use, and from limits of the key, of its identity and of the workspace. */
export function planOf(
  { record, handle }: LoadedRecord,
  fields: Partial<ChargePlan> = {},
): ChargePlan {
  return aPlan({
    revision: 1,
    confirms: [
      { kind: "key", id: record.id, version: record.version, handle },
      { ...at("identity"), version: 1 },
    ],
    limits: [
      aLimit({ name: "own" }),
      aLimit({ name: "shared", owner: 1 }),
      aLimit({ name: "free", owner: null }),
    ],
    ...fields,
  });
}

/** A moment of the tests, with a request id. */
export const MOMENT = {
  now: NOW,
  refill: null,
  request: aRequest({ rememberUntil: NOW + 3_600_000 }),
} as const;

/** A hold beside the key and its identity. */
export const HOLD = { keeps: "all", ttl: 60_000, slotTtl: null, most: [9, 9] } as const;
export const HOLD_MOMENT = { now: NOW, revision: null } as const;

/** Gives back everything that is held. */
export function endOf(id: string): HoldStep {
  return { kind: "end", id, uses: 0, limits: [], rest: false };
}

/** Two keys that share their counters, and one that has them to itself. */
export type Keys = readonly [one: LoadedRecord, two: LoadedRecord, alone: LoadedRecord];

/** Leaves one of everything that a store can hold. */
export async function fill(store: KeyStore): Promise<Keys> {
  const [one, two, alone] = [aKey(1), aKey(2), { ...aKey(3), body: LONG }] as const;
  const commit = (change: Partial<Change>) => store.commit(WORKSPACE, aChange(change));
  await commit({
    puts: [
      { record: aRecord("api") },
      { record: { ...IDENTITY, body: LONG }, counters: { usage: usesOf(9) } },
    ],
    claims: [{ ...at("identity"), index: "externalId", value: "user" }],
    revision: 1,
  });
  await commit(creationOf(one));
  await commit({ ...creationOf(two), puts: [{ record: two, counters: { sharedWith: one.id } }] });
  await commit(creationOf(alone));
  await commit({ claims: [{ ...nameOf(alone), value: "another", id: alone.id }] });
  const { found } = await store.read(WORKSPACE, [one, two, alone]);
  const keys = found as readonly LoadedRecord[] as Keys;
  for (const key of keys) await store.charge(planOf(key), MOMENT);
  for (const holdId of ["rsv_1", "rsv_2"]) {
    const held = { now: NOW, refill: null, holdId };
    await store.charge(planOf(keys[0], { cost: 1, hold: HOLD }), held);
  }
  await store.settle(WORKSPACE, endOf("rsv_2"), HOLD_MOMENT);
  await store.addStatistics(WORKSPACE, STATISTICS);
  return keys;
}
