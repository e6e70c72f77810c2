import assert from "node:assert/strict";
import { type KeyStore, LatchkeyError, NO_CHANGES } from "@latchkey/core";
import { aKeyLimit, aKeyWithUses, aPlan, idOf, WORKSPACE } from "./fixtures.js";
import { insert, listedKeyIds, load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

/**
 * Garbage that a stored key can hold after a bad disk, a bad script or a bad restore:
 * - `not-a-number remaining`: text, or whatever else is no whole number, in place of the uses left;
 * - `negative remaining`: a number of uses below 0;
 * - `broken json`: metadata cut off in the middle;
 * - `wrong type`: rate limits that are well formed and not a list of limits.
 */
export const DAMAGE_KINDS = [
  "not-a-number remaining",
  "negative remaining",
  "broken json",
  "wrong type",
] as const;

/** One of {@link DAMAGE_KINDS}. */
export type DamageKind = (typeof DAMAGE_KINDS)[number];

/**
 * Writes each kind of garbage beneath a store, into the key with this id. A kind that the storage itself refuses
 * to hold is left out.
 */
export type Damage = {
  readonly [Kind in DamageKind]?: (store: KeyStore, keyId: string) => void | Promise<void>;
};

/** The promises about damaged records, for the kinds of damage that the store's author can inflict. */
export function damageChecks(damage: Damage): readonly StorePromise[] {
  return DAMAGE_KINDS.flatMap((kind) => {
    const inflict = damage[kind];
    if (inflict === undefined) return [];
    const isCounter = kind === "not-a-number remaining" || kind === "negative remaining";
    return [
      readPromise(kind, inflict),
      ...(isCounter ? [chargePromise(kind, inflict)] : []),
      deletionPromise(kind, inflict),
    ];
  });
}

function readPromise(kind: DamageKind, inflict: NonNullable<Damage[DamageKind]>): StorePromise {
  return {
    title: `a key with ${kind} is answered with STORE_CORRUPT by every read, and other keys are unharmed`,
    async check({ store, other }) {
      const { key } = await withDamagedKey(store, inflict);
      for (const handle of [store, other]) {
        await assertCorrupt(handle.findKey(key.hash, WORKSPACE), key.hash);
        await assertCorrupt(handle.getKey(WORKSPACE, key.id), key.hash);
        const firstPage = { afterId: null, limit: 1 };
        await assertCorrupt(
          handle.listKeys(WORKSPACE, key.apiId, { identityId: null }, firstPage),
          key.hash,
        );
        assert.equal((await load(handle, idOf("key", 2))).usage.remaining, 5);
      }
    },
  };
}

function chargePromise(kind: DamageKind, inflict: NonNullable<Damage[DamageKind]>): StorePromise {
  return {
    title: `a key with ${kind} is answered with STORE_CORRUPT by every charge and count`,
    async check({ store, other }) {
      const loaded = await withDamagedKey(store, inflict);
      const { key } = loaded;
      for (const handle of [store, other]) {
        await assertCorrupt(handle.charge(aPlan(loaded)), key.hash);
        await assertCorrupt(handle.charge(aPlan(loaded, { mode: "look", cost: 0 })), key.hash);
        const operation = { kind: "increment", by: 1 } as const;
        const usage = { due: null, operation, settledAt: key.createdAt };
        await assertCorrupt(
          handle.updateKey(WORKSPACE, key.id, key.version, { usage }, NO_CHANGES),
          key.hash,
        );
      }
    },
  };
}

function deletionPromise(kind: DamageKind, inflict: NonNullable<Damage[DamageKind]>): StorePromise {
  return {
    title: `a key with ${kind} can be deleted, and its hash is free again`,
    async check({ store, other }) {
      const { key } = await withDamagedKey(store, inflict);
      const removal = { deletedAt: key.createdAt, permanent: true };
      assert.equal(await other.deleteKey(WORKSPACE, key.id, removal, NO_CHANGES), "deleted");
      assert.equal(await store.getKey(WORKSPACE, key.id), null);
      assert.deepEqual(await listedKeyIds(store), [idOf("key", 2)]);
      await insert(store, aKeyWithUses(5, 3, { hash: key.hash }));
    },
  };
}

async function withDamagedKey(store: KeyStore, inflict: NonNullable<Damage[DamageKind]>) {
  const fields = { meta: { team: "billing" }, ratelimits: [aKeyLimit("default", 10)] };
  const loaded = await withKeys(store, aKeyWithUses(5, 1, fields));
  await insert(store, aKeyWithUses(5, 2));
  await inflict(store, loaded.key.id);
  return loaded;
}

async function assertCorrupt(answer: Promise<unknown>, hash: string): Promise<void> {
  await assert.rejects(answer, (error: unknown) => {
    assert.ok(error instanceof LatchkeyError, "the error is not a LatchkeyError");
    assert.equal(error.code, "STORE_CORRUPT");
    assert.ok(!error.message.includes(hash), "the message holds the hash");
    return true;
  });
}
