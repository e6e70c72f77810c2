import assert from "node:assert/strict";
import type { HoldSums, KeyStore } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import { settle, settleAs } from "../../fixtures/holds.js";
import { aLimit, aPlan, chargeAs } from "../../fixtures/plans.js";
import {
  at,
  atFirst,
  commit,
  IDENTITY,
  KEY,
  MINUTE,
  NOW,
  putWithUses,
  usesOf,
  WORKSPACE,
} from "../../fixtures/records.js";

const IDS = ["rsv_1", "rsv_2", "rsv_3"] as const;

/** The holds beside a record, with their sums. */
async function besideOf(store: KeyStore, kind: "key" | "identity") {
  const { found } = await store.read(WORKSPACE, [at(kind)]);
  const holds = await store.holds(WORKSPACE, at(kind), null, 10);
  return { sums: found[0]?.usage?.holds ?? null, remaining: found[0]?.usage?.remaining, holds };
}

/** A key of an identity with three reservations of uses of the key and units of the identity. */
async function reserved(store: KeyStore): Promise<void> {
  await putWithUses(store, KEY, usesOf(50));
  await putWithUses(store, IDENTITY, usesOf(50));
  const confirms = atFirst(KEY, IDENTITY);
  const limit = aLimit({
    window: `${MINUTE}:shared`,
    name: "shared",
    limit: 90,
    cost: 5,
    owner: 1,
  });
  const hold = { keeps: "all", ttl: 10 * MINUTE, slotTtl: null, most: [9, 9] } as const;
  const plan = aPlan({ confirms, cost: 7, limits: [limit], hold });
  for (const holdId of IDS)
    await chargeAs("charged", store, plan, { now: NOW, refill: null, holdId });
}

async function restored(from: KeyStore, to: KeyStore): Promise<void> {
  for (const kind of ["key", "identity"] as const) {
    const { sums, holds } = await besideOf(from, kind);
    const result = await settle(to, { kind: "restore", of: at(kind), sums, holds });
    assert.deepEqual(result, { kind: "restored" });
  }
}

export const restoredHoldContracts: readonly StoreContract[] = [
  it("holds that are restored beside a record are as they were, and no unit moves", async (store) => {
    await reserved(store);
    const before = [await besideOf(store, "key"), await besideOf(store, "identity")];
    await restored(store, store);
    assert.deepEqual([await besideOf(store, "key"), await besideOf(store, "identity")], before);
  }),
  it("holds that are not restored are gone from beside the record, and stay beside others", async (store) => {
    await reserved(store);
    const { sums, holds } = await besideOf(store, "key");
    const [, second] = holds;
    assert.ok(sums !== null && second !== undefined);
    const one: HoldSums = { ...sums, open: 1, uses: 7 };
    await settle(store, { kind: "restore", of: at("key"), sums: one, holds: [second] });
    assert.deepEqual(await besideOf(store, "key"), { sums: one, remaining: 29, holds: [second] });
    assert.equal((await besideOf(store, "identity")).holds.length, 3);
    const gone = { kind: "end", id: IDS[0], uses: 0, limits: [], rest: false } as const;
    await settleAs("unknown", store, gone);
    await settleAs("ended", store, { ...gone, id: IDS[1] });
    assert.equal((await besideOf(store, "key")).remaining, 36);
    await settle(store, { kind: "restore", of: at("key"), sums: null, holds: [] });
    assert.deepEqual(await besideOf(store, "key"), { sums: null, remaining: 36, holds: [] });
  }),
  it("a hold that is restored beside a key and an identity that had none ends beside both", async (store, _, context) => {
    await reserved(store);
    const { store: target, close } = await context.openEmpty();
    try {
      await putWithUses(target, KEY, usesOf(29));
      await putWithUses(target, IDENTITY, usesOf(50));
      await restored(store, target);
      const result = await settle(target, {
        kind: "end",
        id: IDS[1],
        uses: 2,
        limits: [],
        rest: true,
      });
      assert.equal(result.kind, "ended");
      const [key, identity] = [await besideOf(target, "key"), await besideOf(target, "identity")];
      assert.deepEqual([key.remaining, key.sums?.open, key.sums?.uses], [34, 2, 14]);
      assert.deepEqual([identity.remaining, identity.sums?.open], [50, 2]);
      // Beside an identity alone as well: its units come back when their time has passed, though the key is gone.
      await commit(target, { deletes: [at("key")] });
      assert.equal((await besideOf(target, "identity")).holds.length, 2);
      const later = NOW + 10 * MINUTE;
      await settle(target, { kind: "refresh", of: at("identity"), refill: null }, later);
      assert.deepEqual((await besideOf(target, "identity")).holds, []);
    } finally {
      await close();
    }
  }),
  it("nothing is restored beside a missing record", async (store) => {
    await reserved(store);
    const { sums, holds } = await besideOf(store, "key");
    const of = at("key", 2);
    assert.deepEqual(await settle(store, { kind: "restore", of, sums, holds }), {
      kind: "restored",
    });
    assert.deepEqual(await store.holds(WORKSPACE, of, null, 10), []);
    assert.equal((await besideOf(store, "key")).holds.length, 3);
  }),
];
