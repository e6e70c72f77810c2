import type { Change, ChargePlan, KeyStore, LimitCharge, StoreMethod } from "@latchkey/core";
import { expect } from "vitest";

export const WORKSPACE = "ws_default";
const KEY = { kind: "key", id: "key_1" } as const;
const IDENTITY = { kind: "identity", id: "id_1" } as const;
const NAME = { kind: "key", index: "hash", value: "h" } as const;
const NOW = 1_773_144_000_000;

const LIMIT = { limit: 5, duration: 60_000, algorithm: "fixed", burst: 5, shadow: false } as const;
const OWNED: LimitCharge = {
  ...LIMIT,
  name: "default",
  cost: 1,
  window: "default:60000",
  owner: 0,
};
const FREE: LimitCharge = {
  ...LIMIT,
  name: "login",
  cost: 1,
  algorithm: "sliding",
  window: "login",
  owner: null,
};
const PLAN: ChargePlan = {
  workspaceId: WORKSPACE,
  revision: 1,
  confirms: [{ ...KEY, version: 1 }],
  mode: "commit",
  cost: 1,
  uses: 0,
  limits: [OWNED],
};
const REQUEST = { id: "a", fingerprint: "b", rememberUntil: NOW + 600_000 };
const CHANGE: Change = {
  expects: [{ ...KEY, version: 1 }],
  puts: [{ record: { ...KEY, version: 2, link: null, body: { name: "x" } } }],
  deletes: [],
  claims: [],
  releases: [],
  enters: [],
  leaves: [],
  counters: [
    { ...KEY, usage: { due: null, operation: { kind: "increment", by: 1 }, restartsAt: null } },
  ],
  dropWindows: [],
  revision: 2,
};

type Call = readonly [method: StoreMethod, ask: (store: KeyStore) => unknown];

/** Calls of every method with an answer. Plans are created anew for each call, because stores cache data with them. */
export const CALLS: readonly Call[] = [
  ["read", (store) => store.read(WORKSPACE, [KEY, IDENTITY])],
  [
    "page",
    (store) => store.page(WORKSPACE, { kind: "key", list: "keys:api_1", after: null, limit: 1 }),
  ],
  ["charge", (store) => store.charge({ ...PLAN }, { now: NOW, refill: null })],
  [
    "charge",
    (store) =>
      store.charge(
        { ...PLAN, limits: [OWNED, FREE] },
        { now: NOW, refill: { amount: 5, dueAt: 1 }, request: REQUEST },
      ),
  ],
  ["commit", (store) => store.commit(WORKSPACE, CHANGE)],
  [
    "readStatistics",
    (store) => store.readStatistics(WORKSPACE, { subject: KEY, startAt: 0, endAt: NOW }),
  ],
  [
    "addStatistics",
    (store) =>
      store.addStatistics(WORKSPACE, {
        counts: [{ subject: KEY, hourAt: 0, code: "VALID", count: 1 }],
        uses: [{ ...KEY, usedAt: 1 }],
      }),
  ],
  ["deleteStatistics", (store) => store.deleteStatistics(WORKSPACE, 86_400_000, 10)],
  ["forget", (store) => store.forget(WORKSPACE, null)],
  ["scan", (store) => store.scan(WORKSPACE, null)],
  ["scan", (store) => store.scan(null, null)],
  ["readClock", (store) => store.readClock?.()],
  ["read", (store) => store.read(WORKSPACE, [NAME])],
];

/** The calls that charge. */
export const CHARGES = CALLS.filter(([method]) => method === "charge").map(([, ask]) => ask);

/** The records that the charges take from. */
const FIRST_CHANGE: Change = {
  ...CHANGE,
  expects: [],
  counters: [],
  puts: [
    {
      record: { ...KEY, version: 1, link: IDENTITY.id, body: { name: "x" } },
      counters: { usage: { remaining: 1_000_000, refilledAt: 0, lastRefillAt: null } },
    },
    {
      record: { ...IDENTITY, version: 1, link: null, body: {} },
      counters: { usage: { remaining: null, refilledAt: 0, lastRefillAt: null } },
    },
  ],
  claims: [{ ...NAME, id: KEY.id }],
  enters: [{ list: "keys:api_1", id: KEY.id }],
  revision: 1,
};

/** Fills an empty store with one of everything that the charges expect. */
export async function fillStore(store: KeyStore): Promise<void> {
  const begin = () => store.commit(WORKSPACE, FIRST_CHANGE);
  await begin();
  for (const [, ask] of CALLS) await ask(store);
  expect(await begin()).toMatchObject({ kind: "committed" });
  for (const charge of CHARGES) expect(await charge(store)).toMatchObject({ kind: "charged" });
}
