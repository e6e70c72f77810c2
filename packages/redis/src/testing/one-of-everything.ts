import {
  aKey,
  aKeyLimit,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aPlan,
  aRole,
  aRootKey,
  aSharedLimit,
  idOf,
  NOW,
  takeFrom,
  WORKSPACE,
} from "@latchkey/conformance";
import { type KeyStore, type LoadedKey, type LoggedChange, NO_CHANGES } from "@latchkey/core";

/** An entry of the audit log, whatever it is said to be about. */
export const ENTRY: LoggedChange = {
  ifCreated: false,
  change: {
    id: "evt_9",
    workspaceId: WORKSPACE,
    type: "key.updated",
    at: NOW,
    actor: "ann",
    resourceId: idOf("key", 1),
    keyId: idOf("key", 1),
    identityId: idOf("id", 1),
    fields: [],
  },
};

/** The log of any write. */
export const LOG = [ENTRY];

/** Uses of keys and identities. */
export const USES = { remaining: 9, refilledAt: NOW };

/** A verification of the first key. */
export const COUNTS = {
  counts: [{ subject: { kind: "key", id: idOf("key", 1) }, hourAt: NOW, code: "VALID", count: 1 }],
  lastUsed: [{ keyId: idOf("key", 1), usedAt: NOW + 1 }],
} as const;

/** A key that was made by rotation and one that has its counters to itself, as they were loaded. */
export type Keys = readonly [rotated: LoadedKey, alone: LoadedKey];

const limits = [aKeyLimit("own", 5)];
const sharedLimits = [aSharedLimit("shared", 5)];

/** A unit of a limit that belongs to no key. */
export const namespacePlan = {
  ...{ workspaceId: WORKSPACE, namespace: "email", identifier: "ann", now: NOW },
  ...{ limit: 5, durationMs: 60_000, cost: 1 },
};

/** A successor of a key, under this number. */
export function rotationOf({ key }: LoadedKey, number: number) {
  const successor = aKey(number, { identityId: key.identityId });
  const countersId = key.countersId ?? key.id;
  return {
    successor: { ...successor, rotatedFrom: key.id, countersId },
    expiresAt: NOW + 1,
    updatedAt: NOW,
  };
}

/** A verification that takes from a limit of the key, of its identity, and a use. */
export function planOf(loaded: LoadedKey) {
  return aPlan(loaded, {
    limits: [
      ...limits.map((limit) => takeFrom("key", limit)),
      ...sharedLimits.map((limit) => takeFrom("identity", limit)),
    ],
  });
}

/** Leaves one of everything that a store holds. */
export async function fill(store: KeyStore): Promise<Keys> {
  await store.insertApi(anApi(), NO_CHANGES);
  await store.insertPermission(aPermission("docs.read"), NO_CHANGES);
  const held = [{ kind: "name", name: "docs.read", orCreate: null }] as const;
  await store.insertRole(aRole("reader"), held, NO_CHANGES);
  await store.insertRootKey(aRootKey(), NO_CHANGES);
  await store.insertIdentity(anIdentity(1, { ratelimits: sharedLimits }), USES, NO_CHANGES);
  const fields = { ratelimits: limits, identityId: idOf("id", 1), name: "n".repeat(100) };
  const extras = { usage: USES, grants: { permissions: held } };
  const both = [1, 2].map((number) => aNewKey(aKey(number, fields), extras));
  await store.insertKeys(both, LOG);
  const load = async (number: number) =>
    (await store.getKey(WORKSPACE, idOf("key", number))) as LoadedKey;
  await store.rotateKey(WORKSPACE, idOf("key", 1), 1, rotationOf(await load(1), 3), NO_CHANGES);
  await store.addVerifications(WORKSPACE, COUNTS);
  await store.takeFromNamespace(namespacePlan);
  for (const number of [2, 3]) await store.charge(planOf(await load(number)));
  return [await load(3), await load(2)];
}
