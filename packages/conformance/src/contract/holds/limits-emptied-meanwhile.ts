import assert from "node:assert/strict";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aHeldLimit,
  aRelease,
  aReservation,
  BOTH,
  HELD,
  reserve,
  settleAs,
} from "../../fixtures/holds.js";
import { usedOf } from "../../fixtures/plans.js";
import { at, commit, IDENTITY, KEY, load, putWithUses } from "../../fixtures/records.js";

/** What happens to held units of limits that are emptied, or taken away, in the meantime. */
export const limitsEmptiedMeanwhileContracts: readonly StoreContract[] = [
  it("nothing that was held before comes back to limits that were emptied", async (store, other) => {
    await putWithUses(store, KEY);
    const names = ["one", "two", "three"];
    const window = (name: string) => `60000:${name}`;
    const limits = names.map((name) => aHeldLimit({ name, cost: 2 }));
    const taking = aReservation({ limits });
    const used = () => Promise.all(names.map((name) => usedOf(other, { window: window(name) })));
    await reserve(store, 1, taking);
    await commit(store, { counters: [{ ...at("key"), dropWindows: [window("one")] }] });
    await reserve(store, 2, taking);
    await commit(store, {
      counters: [{ ...at("key"), keepWindows: [window("one"), window("three")] }],
    });
    await reserve(store, 3, taking);
    assert.deepEqual(await used(), [4, 2, 6]);
    const { drops } = (await load(other, KEY)).usage?.holds ?? {};
    assert.deepEqual(drops, [
      { before: 1, windows: [window("one")], isKept: false },
      { before: 2, windows: [window("one"), window("three")], isKept: true },
    ]);
    await settleAs("ended", store, aRelease(1));
    assert.deepEqual(await used(), [4, 2, 4]);
    await settleAs("ended", store, aRelease(2));
    assert.deepEqual(await used(), [2, 2, 2]);
    await settleAs("ended", store, aRelease(3));
    assert.deepEqual(await used(), [0, 0, 0]);
    assert.equal((await load(other, KEY)).usage?.holds, undefined);
    // Nothing is noted if nothing is held.
    await commit(store, { counters: [{ ...at("key"), keepWindows: [] }] });
    assert.equal((await load(other, KEY)).usage?.holds, undefined);
  }),
  it("all limits of a record may go at once while something is held", async (store, other) => {
    await putWithUses(store, KEY);
    const taking = aReservation({ limits: [aHeldLimit({ cost: 2 })] });
    await reserve(store, 1, taking);
    await commit(store, {
      counters: [{ ...at("key"), keepWindows: [], dropWindows: ["60000:default"] }],
    });
    assert.deepEqual((await load(other, KEY)).usage?.holds?.drops, [
      { before: 1, windows: [], isKept: true },
      { before: 1, windows: ["60000:default"], isKept: false },
    ]);
    await reserve(store, 2, taking);
    await settleAs("ended", store, aRelease(1));
    assert.equal(await usedOf(other, { window: "60000:default" }), 2);
  }),
  it("a limit that is emptied again and again while something is held is noted once", async (store, other) => {
    await putWithUses(store, KEY);
    const windows = ["60000:default", "s60000:other"];
    const taking = aReservation({ limits: [aHeldLimit({ cost: 2 })] });
    const dropsOf = async () => (await load(other, KEY)).usage?.holds?.drops;
    for (const number of [1, 2, 3]) {
      await reserve(store, number, taking);
      await commit(store, { counters: [{ ...at("key"), dropWindows: windows.slice(0, 1) }] });
      await commit(store, { counters: [{ ...at("key"), keepWindows: windows.slice(0, 1) }] });
      await commit(store, { counters: [{ ...at("key"), keepWindows: windows }] });
    }
    const [isKept, before] = [true, 3];
    const drops = [
      { before, windows: windows.slice(0, 1), isKept: false },
      { before, windows: windows.slice(0, 1), isKept },
      { before, windows, isKept },
    ];
    assert.deepEqual(await dropsOf(), drops);
    for (let round = 0; round < 2; round += 1)
      await commit(store, { counters: [{ ...at("key"), keepWindows: [], dropWindows: [] }] });
    assert.deepEqual(await dropsOf(), [
      ...drops,
      { before, windows: [], isKept },
      { before, windows: [], isKept: false },
    ]);
    await reserve(store, 4, taking);
    for (const number of [1, 2, 3]) await settleAs("ended", store, aRelease(number));
    assert.equal(await usedOf(other, { window: "60000:default" }), 2);
  }),
  it("limits that requests made up stay when those of the key change, and are emptied by their names", async (store, other) => {
    await putWithUses(store, KEY);
    const window = `a:${KEY.id}:60000:made-up`;
    const taking = aReservation({ limits: [aHeldLimit({ window, owner: null, cost: 2 })] });
    for (const number of [1, 2]) await reserve(store, number, taking);
    await commit(store, { counters: [{ ...at("key"), keepWindows: [] }] });
    await settleAs("ended", store, aRelease(1));
    assert.equal(await usedOf(other, { window, owner: null }), 2);
    await commit(store, {
      counters: [{ ...at("key"), dropWindows: [window] }],
      dropWindows: [window],
    });
    await reserve(store, 3, taking);
    await settleAs("ended", store, aRelease(2));
    assert.equal(await usedOf(other, { window, owner: null }), 2);
  }),
  it("limits of a key and of its identity are emptied apart, under one name as well", async (store, other) => {
    await putWithUses(store, KEY);
    await putWithUses(store, IDENTITY);
    const limits = [aHeldLimit({ cost: 2 }), aHeldLimit({ cost: 3, owner: 1 })];
    const taking = aReservation({ confirms: BOTH, limits, hold: { ...HELD, most: [9, 9] } });
    await reserve(store, 1, taking);
    const window = "60000:default";
    await commit(store, { counters: [{ ...at("identity"), dropWindows: [window] }] });
    await reserve(store, 2, taking);
    await settleAs("ended", store, aRelease(1));
    assert.equal(await usedOf(other, { window }), 2);
    assert.equal(await usedOf(other, { window, owner: IDENTITY }), 3);
  }),
];
