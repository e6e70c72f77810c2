import assert from "node:assert/strict";
import { NO_CHANGES, type UsageChange } from "@latchkey/core";
import {
  aKey,
  aKeyWithUses,
  aNewKey,
  aPlan,
  aUsageChange,
  idOf,
  NOW,
  WORKSPACE,
} from "./fixtures.js";
import { race } from "./race.js";
import { assertSameKey, assertUpdated, load, usesLeft, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);

const INCREMENT: UsageChange = aUsageChange({ kind: "increment", by: 1 });

export const countingPromises: readonly StorePromise[] = [
  {
    title: "uses can be set, added and taken away, and the update answers what is left",
    async check({ store, other }) {
      await withKeys(store, aKeyWithUses(5));
      for (const [operation, remaining] of [
        [{ kind: "set", remaining: 10 }, 10],
        [{ kind: "increment", by: 7 }, 17],
        [{ kind: "decrement", by: 17 }, 0],
        [{ kind: "keep" }, 0],
        [{ kind: "set", remaining: null }, null],
        [{ kind: "set", remaining: 0 }, 0],
      ] as const) {
        const result = await store.updateKey(
          WORKSPACE,
          KEY_ID,
          1,
          {
            usage: aUsageChange(operation),
          },
          NO_CHANGES,
        );
        assert.deepEqual(result, {
          kind: "updated",
          usage: { remaining, refilledAt: NOW },
          created: [],
        });
        assert.equal(await usesLeft(other), remaining);
      }
    },
  },
  {
    title: "an update without uses answers the uses as they are",
    async check({ store }) {
      await withKeys(store, aKeyWithUses(5));
      const result = await store.updateKey(WORKSPACE, KEY_ID, 1, { name: "new" }, NO_CHANGES);
      assert.deepEqual(result, {
        kind: "updated",
        usage: { remaining: 5, refilledAt: NOW },
        created: [],
      });
    },
  },
  {
    title: "a refused change of uses says why and writes nothing, no other field either",
    async check({ store }) {
      const most = Number.MAX_SAFE_INTEGER;
      await withKeys(store, aKeyWithUses(5), aNewKey(aKey(2)), aKeyWithUses(most, 3));
      for (const [number, operation, reason] of [
        [1, { kind: "decrement", by: 6 }, { kind: "insufficient", remaining: 5 }],
        [2, { kind: "increment", by: 1 }, { kind: "unlimited" }],
        [2, { kind: "decrement", by: 1 }, { kind: "unlimited" }],
        [3, { kind: "increment", by: 1 }, { kind: "overflow", remaining: most }],
      ] as const) {
        const before = await load(store, idOf("key", number));
        const patch = { name: "new", usage: aUsageChange(operation) };
        const result = await store.updateKey(WORKSPACE, before.key.id, 1, patch, NO_CHANGES);
        assert.deepEqual(result, { kind: "usage-refused", reason });
        assertSameKey(await load(store, before.key.id), before);
      }
    },
  },
  {
    title: "a refill that is owed is settled before the change of uses",
    async check({ store }) {
      await withKeys(store, aKeyWithUses(2));
      const due = { amount: 50, dueAt: NOW + 10 };
      const usage = aUsageChange({ kind: "decrement", by: 20 }, { due, settledAt: NOW + 20 });
      assertUpdated(await store.updateKey(WORKSPACE, KEY_ID, 1, { usage }, NO_CHANGES));
      assert.deepEqual((await load(store)).usage, { remaining: 30, refilledAt: NOW + 20 });
    },
  },
  {
    title: "parallel changes of uses all count, and expect the same version",
    async check(stage) {
      await withKeys(stage.store, aKeyWithUses(0));
      const results = await race(stage, 25, (store) =>
        store.updateKey(WORKSPACE, KEY_ID, 1, { usage: INCREMENT }, NO_CHANGES),
      );
      const counts = results.map((result) => {
        assertUpdated(result);
        return result.usage.remaining ?? -1;
      });
      const expected = Array.from({ length: 25 }, (_, index) => index + 1);
      assert.deepEqual(
        counts.sort((one, two) => one - two),
        expected,
      );
      assert.equal(await usesLeft(stage.store), 25);
    },
  },
  {
    title: "uses added while others are taken all count",
    async check(stage) {
      const loaded = await withKeys(stage.store, aKeyWithUses(10));
      const taken = await race(stage, 40, async (store, number) => {
        if (number % 4 === 0) {
          assertUpdated(
            await store.updateKey(WORKSPACE, KEY_ID, 1, { usage: INCREMENT }, NO_CHANGES),
          );
          return 0;
        }
        return (await store.charge(aPlan(loaded))).kind === "charged" ? 1 : 0;
      });
      const spent = taken.reduce<number>((sum, uses) => sum + uses, 0);
      assert.equal(await usesLeft(stage.store), 10 + 10 - spent);
    },
  },
];
