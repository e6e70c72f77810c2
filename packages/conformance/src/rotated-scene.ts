import type { KeyStore, LoadedKey } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aNewKey,
  anIdentity,
  aPermission,
  aRole,
  aRotation,
  DAY_MS,
  idOf,
  NOW,
  orCreate,
} from "./fixtures.js";
import { load, rotate, withKeys } from "./scene.js";

/** Id of the key that is rotated. */
export const OLD = idOf("key", 1);

/** Id of its successor. */
export const NEW = idOf("key", 2);

/** A limit of both. */
export const LIMIT = aKeyLimit("default", 7);

/** A key with everything that a successor is to have too, and this many uses. */
export function aFullKey(remaining: number | null = 9) {
  const key = aKey(1, {
    name: "billing job",
    meta: { team: "billing" },
    expiresAt: NOW + DAY_MS,
    refill: { interval: "daily", amount: 9 },
    ratelimits: [LIMIT, { ...aKeyLimit("exports", 2), autoApply: true }],
    environment: "live",
  });
  return aNewKey(key, {
    usage: { remaining, refilledAt: NOW },
    identity: anIdentity(),
    grants: {
      roles: [orCreate(aRole("reader"))],
      permissions: [orCreate(aPermission("docs.read"))],
    },
  });
}

/** The old key and its successor, both as they are after the rotation. */
export async function withRotated(store: KeyStore, remaining: number | null = 9) {
  const before = await withKeys(store, aFullKey(remaining));
  const successor = await rotate(store, before, aRotation(before));
  return { before, old: await load(store, OLD), successor };
}

/** The rotation of a key with another hash than its number would give. */
export function racerOf(loaded: LoadedKey, number: number) {
  return aRotation(loaded, 100 + number);
}
