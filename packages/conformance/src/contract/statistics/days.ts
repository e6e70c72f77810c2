import assert from "node:assert/strict";
import { MOST_SUMS_A_DAY } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import { add, countOf, DAY_AT, HOUR } from "../../fixtures/counts.js";
import { DAY, WORKSPACE } from "../../fixtures/records.js";

export const dayContracts: readonly StoreContract[] = [
  it("a day is read subject by subject, whether or not their records exist, in pages of whole subjects", async (store, other) => {
    const ids = ["key_1", "key_10", "key_2", "key_B", "key_a", "tag.of-a:thing_"];
    const counts = ids.flatMap((id, index) =>
      [DAY_AT, DAY_AT + HOUR, DAY_AT + 23 * HOUR].map((hourAt) =>
        countOf({ subject: { kind: "key", id }, hourAt, count: index + 1 }),
      ),
    );
    await add(store, ...counts.toReversed());
    await add(
      store,
      countOf({ subject: { kind: "api", id: "key_1" }, hourAt: DAY_AT }),
      countOf({ subject: { kind: "key", id: "key_0" }, hourAt: DAY_AT - HOUR }),
      countOf({ subject: { kind: "key", id: "key_3" }, hourAt: DAY_AT + DAY }),
    );
    await other.addStatistics("ws_elsewhere", {
      counts: [countOf({ hourAt: DAY_AT })],
      uses: [],
    });
    const day = async (from: string, limit: number) => {
      const want = { kind: "key", dayAt: DAY_AT, from, limit } as const;
      const { sums, hasMore } = await other.pageStatistics(WORKSPACE, want);
      const told = [...new Set(sums.map(({ subject }) => subject.id))];
      assert.deepEqual(
        sums.toSorted((one, two) => ids.indexOf(one.subject.id) - ids.indexOf(two.subject.id)),
        sums,
      );
      for (const id of told)
        assert.deepEqual(
          sums
            .filter(({ subject }) => subject.id === id)
            .toSorted((one, two) => one.hourAt - two.hourAt),
          counts.filter(({ subject }) => subject.id === id),
        );
      return { told, hasMore };
    };
    assert.deepEqual(await day("", 1_000), { told: ids, hasMore: false });
    assert.deepEqual(await day("key_2", 1_000), { told: ids.slice(2), hasMore: false });
    assert.deepEqual(await day("key_2 ", 1_000), { told: ids.slice(3), hasMore: false });
    assert.deepEqual(await day("z", 1_000), { told: [], hasMore: false });
  }),
  it("a page of a day is bounded, and pages meet every subject once", async (store, other) => {
    const ids = Array.from({ length: 700 }, (_, number) => `key_${1_000 + number}`);
    await add(
      store,
      ...ids.map((id) => countOf({ subject: { kind: "key", id }, hourAt: DAY_AT })),
      ...ids.map((id) => countOf({ subject: { kind: "key", id }, hourAt: DAY_AT + HOUR })),
    );
    const met: string[] = [];
    for (let from = ""; ; ) {
      const want = { kind: "key", dayAt: DAY_AT, from, limit: 100 } as const;
      const { sums, hasMore } = await other.pageStatistics(WORKSPACE, want);
      assert.ok(sums.length <= 100 + MOST_SUMS_A_DAY, `${sums.length} in one page`);
      assert.ok(sums.length >= 100 || !hasMore, `${sums.length}, and more`);
      met.push(...new Set(sums.map(({ subject }) => subject.id)));
      if (!hasMore) break;
      from = `${met.at(-1)} `;
    }
    assert.deepEqual(met, ids);
  }),
  it("days that have sums are found one after the other, of whatever subject", async (store, other) => {
    assert.equal(await other.nextStatisticsDay(WORKSPACE, 0), null);
    const kinds = ["tag", "key", "api", "identity"] as const;
    const days = [DAY_AT - 400 * DAY, DAY_AT, DAY_AT + DAY, DAY_AT + 30 * DAY];
    await add(
      store,
      ...days.map((dayAt, at) => {
        const subject = { kind: kinds[at] as (typeof kinds)[number], id: "key_1" };
        return countOf({ subject, hourAt: dayAt + 5 * at * HOUR });
      }),
    );
    const found: number[] = [];
    for (let from: number | null = 0; from !== null; ) {
      from = await other.nextStatisticsDay(WORKSPACE, from);
      if (from === null) break;
      found.push(from);
      from += DAY;
    }
    assert.deepEqual(found, days);
    assert.equal(await other.nextStatisticsDay(WORKSPACE, DAY_AT + DAY), DAY_AT + DAY);
    assert.equal(await other.nextStatisticsDay("ws_elsewhere", 0), null);
    await other.deleteStatistics(WORKSPACE, DAY_AT + DAY, 1_000);
    assert.equal(await store.nextStatisticsDay(WORKSPACE, 0), DAY_AT + DAY);
  }),
];
