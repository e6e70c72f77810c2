import { aChange, aRecord, aRequest, at, NOW, usesOf, WORKSPACE } from "@latchkey/conformance";
import type { Change, KeyStore } from "@latchkey/core";
import {
  aKey,
  creationOf,
  endOf,
  HOLD,
  HOLD_MOMENT,
  type Keys,
  MOMENT,
  nameOf,
  planOf,
  STATISTICS,
} from "./one-of-everything.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SUBJECT = STATISTICS.counts[0].subject;

type Call = (store: KeyStore, keys: Keys) => Promise<unknown>;

function changing(change: (keys: Keys) => Partial<Change>): Call {
  return (store, keys) => store.commit(WORKSPACE, aChange(change(keys)));
}

const usage = { due: null, operation: { kind: "increment", by: 1 }, restartsAt: NOW } as const;

/** Every call that reads, on a store that holds what `fill` leaves. The calls that write come after these. */
export const READS: readonly (readonly [string, Call])[] = [
  ["holds", (store, [one]) => store.holds(WORKSPACE, one.record, null, 9)],
  [
    "read by id",
    (store, keys) =>
      store.read(
        WORKSPACE,
        keys.map(({ record }) => record),
      ),
  ],
  ["read by name", (store, [one]) => store.read(WORKSPACE, [nameOf(one.record)])],
  ["page", (store) => store.page(WORKSPACE, { kind: "key", list: "keys", after: null, limit: 9 })],
  [
    "readStatistics",
    (store) =>
      store.readStatistics(WORKSPACE, { subject: SUBJECT, startAt: NOW - HOUR_MS, endAt: NOW }),
  ],
];

/** Every call that writes. */
export const WRITES: readonly (readonly [string, Call])[] = [
  ["commit a new key", changing(() => ({ ...creationOf(aKey(4)), revision: 2 }))],
  [
    "commit over a key",
    changing(([, , { record }]) => ({
      expects: [{ kind: "key", id: record.id, version: 1 }],
      puts: [{ record: { ...record, version: 2 } }],
      counters: [{ kind: "key", id: record.id, usage, keepWindows: [] }],
      dropWindows: ["free"],
    })),
  ],
  [
    "commit a key that shares counters",
    changing(([, , { record }]) => ({
      puts: [{ record: aKey(4), counters: { sharedWith: record.id } }],
    })),
  ],
  [
    "commit an identity",
    changing(() => ({
      puts: [{ record: aRecord("identity", 2), counters: { usage: usesOf(1) } }],
      claims: [{ ...at("identity", 2), index: "externalId", value: "another" }],
      releases: [{ ...at("identity"), index: "externalId", value: "user" }],
    })),
  ],
  [
    "commit a deletion",
    changing(([{ record }]) => ({
      expects: [{ kind: "key", id: record.id, version: "exists" }],
      deletes: [record],
      releases: [{ ...nameOf(record), id: record.id }],
      leaves: [
        { list: "keys", id: record.id },
        { list: "audit", of: record.id, id: at("auditEntry").id },
      ],
    })),
  ],
  ["charge again", async (store, [, , alone]) => store.charge(planOf(alone), MOMENT)],
  [
    "charge",
    async (store, [, , alone]) =>
      store.charge(planOf(alone), { ...MOMENT, request: aRequest({ id: "request-2" }) }),
  ],
  [
    "charge shared counters",
    async (store, [one]) => store.charge(planOf(one), { ...MOMENT, request: undefined }),
  ],
  [
    "charge that holds",
    async (store, [one]) =>
      store.charge(planOf(one, { hold: HOLD }), { now: NOW, refill: null, holdId: "rsv_3" }),
  ],
  [
    "renew",
    (store) => store.settle(WORKSPACE, { kind: "renew", id: "rsv_1", ttl: null }, HOLD_MOMENT),
  ],
  ["settle", (store) => store.settle(WORKSPACE, endOf("rsv_1"), HOLD_MOMENT)],
  ["settle again", (store) => store.settle(WORKSPACE, endOf("rsv_2"), HOLD_MOMENT)],
  [
    "settle what is over",
    (store, [one]) =>
      store.settle(
        WORKSPACE,
        { kind: "refresh", of: one.record, refill: null },
        { now: NOW + DAY_MS, revision: null },
      ),
  ],
  ["addStatistics", (store) => store.addStatistics(WORKSPACE, STATISTICS)],
  [
    "deleteStatistics",
    (store) => store.deleteStatistics(WORKSPACE, (Math.floor(NOW / DAY_MS) + 1) * DAY_MS, 9),
  ],
  ["forget", (store) => store.forget(WORKSPACE, null)],
];
