import assert from "node:assert/strict";
import {
  type HourCount,
  type KeyStore,
  type StatisticsRange,
  type StatisticsSubject,
  SUM_CODES,
  type SumCode,
} from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import { add, countOf, DAY_AT, HOUR, HOUR_AT, SUBJECT } from "../../fixtures/counts.js";
import { race } from "../../fixtures/race.js";
import {
  aRecord,
  assertGone,
  assertHolds,
  at,
  commit,
  DAY,
  NOW,
  nextOf,
  put,
  putWithUses,
  revisionOf,
  tellUse,
  usesOf,
  WORKSPACE,
} from "../../fixtures/records.js";

/** Sorted by hour, and within the hour by code: the port promises only the first. */
async function read(
  store: KeyStore,
  range: Partial<StatisticsRange> = {},
): Promise<readonly HourCount[]> {
  const whole = { subject: SUBJECT, startAt: 0, endAt: NOW + 1_000 * DAY, ...range };
  const sums = await store.readStatistics(WORKSPACE, whole);
  const hours = sums.map(({ hourAt }) => hourAt);
  assert.deepEqual(
    hours,
    hours.toSorted((one, two) => one - two),
  );
  return sums
    .map(({ hourAt, code, count }) => ({ hourAt, code, count }))
    .toSorted((one, two) => one.hourAt - two.hourAt || rank(one.code) - rank(two.code));
}

/** Deletes sums step by step until there are no more. @returns How many. */
async function deleteInSteps(
  store: KeyStore,
  limit: number,
  of?: readonly StatisticsSubject[],
): Promise<number> {
  let deleted = 0;
  for (let steps = 1; ; steps += 1) {
    const step = await store.deleteStatistics(WORKSPACE, DAY_AT, limit, of);
    // About the limit: a store may delete the sums of one subject and day together.
    assert.ok(step.deleted <= limit + 24 * SUM_CODES.length, `${step.deleted} in one step`);
    assert.ok(step.deleted > 0 || !step.hasMore, "a step that does nothing has no more to do");
    deleted += step.deleted;
    if (!step.hasMore) return deleted;
    assert.ok(steps < 400, "it does not come to an end");
  }
}

const rank = (code: SumCode) => SUM_CODES.indexOf(code);

export const sumContracts: readonly StoreContract[] = [
  it("counts are added to the sums of their subject, hour and code", async (store, other) => {
    const hours = [HOUR_AT, HOUR_AT + HOUR, HOUR_AT + DAY];
    const counts = hours.flatMap((hourAt) =>
      SUM_CODES.map((code, index) => countOf({ hourAt, code, count: index + 1 })),
    );
    await add(store, ...counts);
    await add(other, ...counts.toReversed());
    const expected = counts.map(({ hourAt, code, count }) => ({
      hourAt,
      code,
      count: count * 2,
    }));
    assert.deepEqual(await read(other), expected);
    assert.deepEqual(await read(store), expected);
  }),
  it("sums are apart by the kind and the id of their subject", async (store, other) => {
    const ids = ["same", "Same", "same ", "", "sam\u00e9", "a\u0000b", "%", "x".repeat(128)];
    const subjects = ids.flatMap((id) =>
      (["key", "identity", "api"] as const).map((kind) => ({ kind, id })),
    );
    await add(store, ...subjects.map((subject, index) => countOf({ subject, count: index + 1 })));
    for (const [index, subject] of subjects.entries())
      assert.deepEqual(await read(other, { subject }), [
        { hourAt: HOUR_AT, code: "VALID", count: index + 1 },
      ]);
  }),
  it("a range holds the hours from its start, included, to its end, not included", async (store, other) => {
    const hours = [0, 1, 2, 24].map((hour) => HOUR_AT + hour * HOUR);
    await add(store, ...hours.map((hourAt) => countOf({ hourAt })));
    const inRange = async (startAt: number, endAt: number) =>
      (await read(other, { startAt, endAt })).map(({ hourAt }) => (hourAt - HOUR_AT) / HOUR);
    assert.deepEqual(await inRange(HOUR_AT, HOUR_AT + HOUR), [0]);
    assert.deepEqual(await inRange(HOUR_AT, HOUR_AT + HOUR + 1), [0, 1]);
    assert.deepEqual(await inRange(HOUR_AT + 1, HOUR_AT + 3 * HOUR), [1, 2]);
    assert.deepEqual(await inRange(HOUR_AT + 3 * HOUR, HOUR_AT + 24 * HOUR), []);
    assert.deepEqual(await inRange(HOUR_AT + 3 * HOUR, HOUR_AT + 24 * HOUR + 1), [24]);
    assert.deepEqual(await inRange(HOUR_AT, HOUR_AT), []);
    assert.deepEqual(await inRange(0, Number.MAX_SAFE_INTEGER), [0, 1, 2, 24]);
  }),
  it("a subject without counts has no sums", async (store) => {
    assert.deepEqual(await read(store), []);
    await add(store);
    assert.deepEqual(await read(store), []);
  }),
  it("two thousand counts are added in one call, and sums grow up to 2^53 − 1, and then stay", async (store, other) => {
    const counts = Array.from({ length: 2_000 }, (_, number) =>
      countOf({
        subject: { kind: "key", id: `key_${number % 500}` },
        hourAt: HOUR_AT + (number % 4) * HOUR,
        count: number + 1,
        code: SUM_CODES[Math.floor(number / 500)] ?? "VALID",
      }),
    );
    await add(store, ...counts);
    const sums = await read(other, { subject: { kind: "key", id: "key_499" } });
    assert.deepEqual(
      sums.map(({ count }) => count).toSorted((one, two) => one - two),
      [500, 1_000, 1_500, 2_000],
    );
    await add(store, countOf({ count: Number.MAX_SAFE_INTEGER - 5 }));
    await add(other, countOf({ count: 5 }));
    // Beyond that they stay the same, and hold up nothing that is added with them.
    await add(store, countOf({ count: Number.MAX_SAFE_INTEGER }), countOf({ code: "DISABLED" }));
    assert.deepEqual(await read(store), [
      { hourAt: HOUR_AT, code: "VALID", count: Number.MAX_SAFE_INTEGER },
      { hourAt: HOUR_AT, code: "DISABLED", count: 1 },
    ]);
  }),
  it("of N additions at once each counts", async (store, other) => {
    await race({ store, other }, 30, (each, number) => add(each, countOf({ count: number + 1 })));
    assert.deepEqual(await read(other), [{ hourAt: HOUR_AT, code: "VALID", count: 465 }]);
  }),
  it("the latest use of a record rises, and never goes back", async (store, other) => {
    const record = aRecord("key");
    await putWithUses(store, record, usesOf(3));
    for (const [told, usedAt] of [
      [NOW, NOW],
      [NOW - 1, NOW],
      [NOW + 1, NOW + 1],
      [0, NOW + 1],
    ] as const) {
      await tellUse(store, record, told);
      await assertHolds(other, record, { usage: usesOf(3), usedAt });
    }
    await put(store, nextOf(record));
    await assertHolds(other, nextOf(record), { usage: usesOf(3), usedAt: NOW + 1 });
  }),
  it("latest uses of several kinds are told in one call, and records that do not exist are passed over", async (store, other) => {
    const records = [aRecord("key", 1), aRecord("identity", 1), aRecord("rootKey", 1)];
    await put(store, ...records);
    const gone = [at("key", 2), at("api", 1)];
    await store.addStatistics(WORKSPACE, {
      counts: [countOf()],
      uses: [...gone, ...records].map(({ kind, id }, index) => ({
        kind,
        id,
        usedAt: NOW + index,
      })),
    });
    for (const [index, record] of records.entries())
      await assertHolds(other, record, { usedAt: NOW + 2 + index });
    for (const address of gone) await assertGone(other, address);
    await put(store, aRecord("key", 2));
    await assertHolds(other, aRecord("key", 2), { usedAt: null });
    assert.equal((await read(other)).length, 1);
  }),
  it("of N latest uses told at once the latest is kept", async (store, other) => {
    await put(store, aRecord("key"));
    const order = [3, 9, 1, 7, 0, 8, 2, 6, 5, 4];
    await race({ store, other }, 10, (each, number) =>
      tellUse(each, at("key"), NOW + (order[number] ?? 0)),
    );
    await assertHolds(other, aRecord("key"), { usedAt: NOW + 9 });
  }),
  it("statistics move neither a version nor the revision", async (store, other) => {
    await commit(store, { puts: [{ record: aRecord("key") }], revision: 1 });
    const uses = [{ ...at("key"), usedAt: NOW }];
    await store.addStatistics(WORKSPACE, { counts: [countOf()], uses });
    await assertHolds(other, aRecord("key"), { usedAt: NOW });
    assert.equal(await revisionOf(other), 1);
  }),
  it("sums of the days before an instant are forgotten, and no others", async (store, other) => {
    const hours = [-25, -24, -1, 0, 1, 24].map((hour) => DAY_AT + hour * HOUR);
    await add(store, ...hours.map((hourAt) => countOf({ hourAt })));
    assert.deepEqual(await other.deleteStatistics(WORKSPACE, DAY_AT, 1_000), {
      deleted: 3,
      hasMore: false,
    });
    const left = (await read(other)).map(({ hourAt }) => (hourAt - DAY_AT) / HOUR);
    assert.deepEqual(left, [0, 1, 24]);
    assert.deepEqual(await other.deleteStatistics(WORKSPACE, DAY_AT, 1_000), {
      deleted: 0,
      hasMore: false,
    });
  }),
  it("sums are forgotten in bounded steps, until there are no more", async (store, other) => {
    const counts = Array.from({ length: 400 }, (_, number) =>
      countOf({
        subject: { kind: "key", id: `key_${number % 40}` },
        hourAt: DAY_AT - (1 + Math.floor(number / 40)) * DAY,
      }),
    );
    await add(store, ...counts, countOf());
    assert.equal(await deleteInSteps(other, 50), 400);
    assert.equal((await read(other)).length, 1);
  }),
  it("sums of some subjects are forgotten in bounded steps, and no others", async (store, other) => {
    const subjects = (["key", "identity"] as const).flatMap((kind) =>
      ["a", "a1", "b"].map((id) => ({ kind, id })),
    );
    const hours = Array.from({ length: 9 }, (_, number) => DAY_AT - 1 - number * 25 * HOUR);
    const hourly = hours.map((at) => at - (at % HOUR));
    const counts = subjects.flatMap((subject) =>
      [...hourly, DAY_AT].map((hourAt) => countOf({ subject, hourAt })),
    );
    await add(store, ...counts);
    const of = [
      { kind: "key", id: "a" },
      { kind: "identity", id: "b" },
      { kind: "key", id: "none" },
    ] as const;
    assert.equal(await deleteInSteps(other, 5, of), 18);
    for (const subject of subjects) {
      const isForgotten = of.some(({ kind, id }) => kind === subject.kind && id === subject.id);
      const left = await store.readStatistics(WORKSPACE, {
        ...{ subject, startAt: 0, endAt: DAY_AT + DAY },
      });
      assert.equal(left.length, isForgotten ? 1 : 10, JSON.stringify(subject));
    }
    assert.deepEqual(await other.deleteStatistics(WORKSPACE, DAY_AT, 5, []), {
      deleted: 0,
      hasMore: false,
    });
    // The rest is found by its day as before.
    const rest = await other.deleteStatistics(WORKSPACE, DAY_AT + DAY, 1_000);
    assert.equal(rest.deleted, 4 * 10 + 2);
  }),
  it("sums that were forgotten begin again at nothing", async (store, other) => {
    await add(store, countOf({ count: 5 }));
    await store.deleteStatistics(WORKSPACE, DAY_AT + DAY, 1_000);
    await add(other, countOf({ count: 2 }));
    assert.deepEqual(await read(store), [{ hourAt: HOUR_AT, code: "VALID", count: 2 }]);
  }),
];
