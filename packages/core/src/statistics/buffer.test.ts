import { expect, test } from "vitest";
import { STATISTICS_SPAN_MS, type StatisticsBatch } from "../store/statistics.js";
import { identityWith, loadedWith } from "../testing/records.js";
import {
  type CountedKey,
  createVerificationTally,
  MAX_BATCH_SIZE,
  MAX_RETURNED,
} from "./buffer.js";

const HOUR_AT = 100 * STATISTICS_SPAN_MS;

/** A key as a verification counts it: loaded afresh, of an identity or of none. */
function countedKey(
  fields: { id?: string; workspaceId?: string } = {},
  identityId?: string,
): CountedKey {
  const identity = identityId === undefined ? null : identityWith({ id: identityId });
  return { ...loadedWith(fields, { identity }), standing: [], tally: null };
}
const keyNamed = (id: string) => countedKey({ id });
const ofKey = (code: string, count: number, hourAt = HOUR_AT) => ({
  subject: { kind: "key", id: "key_1" },
  hourAt,
  code,
  count,
});

const emptyBatch: StatisticsBatch = { counts: [], lastUsed: [] };

test("a verification counts for the key, its API and its identity", () => {
  const tally = createVerificationTally(10);
  tally.count(countedKey({}, "id_1"), "VALID", HOUR_AT + 5);
  const subjects = [
    { kind: "key", id: "key_1" },
    { kind: "api", id: "api_1" },
    { kind: "identity", id: "id_1" },
  ];
  expect([...tally.take()]).toEqual([
    {
      workspaceId: "ws_default",
      batch: {
        counts: subjects.map((subject) => ({ subject, hourAt: HOUR_AT, code: "VALID", count: 1 })),
        lastUsed: [{ keyId: "key_1", usedAt: HOUR_AT + 5 }],
      },
    },
  ]);
});

test("the first verification of a key is told from those that follow, in each hour and whenever all was handed out", () => {
  const tally = createVerificationTally(1);
  const key = countedKey();
  expect(tally.count(key, "VALID", HOUR_AT)).toBe(true);
  expect(tally.count(key, "DISABLED", HOUR_AT + STATISTICS_SPAN_MS - 1)).toBe(false);
  tally.take();
  expect(tally.count(key, "VALID", HOUR_AT + STATISTICS_SPAN_MS - 1)).toBe(true);
  tally.take();
  expect(tally.count(key, "VALID", HOUR_AT + STATISTICS_SPAN_MS)).toBe(true);
});

test("a verification that is not counted is no first one", () => {
  const tally = createVerificationTally(1);
  tally.count(keyNamed("key_1"), "VALID", HOUR_AT);
  expect(tally.count(keyNamed("key_2"), "VALID", HOUR_AT)).toBe(false);
});

test("what was handed out is held no more", () => {
  const tally = createVerificationTally(10);
  tally.count(countedKey(), "VALID", HOUR_AT);
  expect(tally.heldKeys).toBe(1);
  tally.take();
  expect(tally.heldKeys).toBe(0);
  expect([...tally.take()]).toEqual([]);
});

test("a verification whose answer took longer than that of a later one does not put the latest use back", () => {
  const tally = createVerificationTally(10);
  tally.count(countedKey(), "VALID", HOUR_AT + 2);
  tally.count(countedKey(), "VALID", HOUR_AT + 1);
  tally.count(countedKey(), "VALID", HOUR_AT - 1);
  const [batch] = [...tally.take()];
  expect(batch?.batch.lastUsed).toEqual([{ keyId: "key_1", usedAt: HOUR_AT + 2 }]);
  expect(batch?.batch.counts).toContainEqual(ofKey("VALID", 3));
});

test("only a VALID verification is a use of the key", () => {
  const tally = createVerificationTally(10);
  tally.count(countedKey(), "VALID", HOUR_AT + 1);
  tally.count(countedKey(), "RATE_LIMITED", HOUR_AT + 2);
  expect([...tally.take()][0]?.batch.lastUsed).toEqual([{ keyId: "key_1", usedAt: HOUR_AT + 1 }]);
  tally.count(countedKey(), "EXPIRED", HOUR_AT + 3);
  expect([...tally.take()][0]?.batch.lastUsed).toEqual([]);
});

test.each([
  { at: STATISTICS_SPAN_MS - 1, hours: [HOUR_AT] },
  { at: STATISTICS_SPAN_MS, hours: [HOUR_AT, HOUR_AT + STATISTICS_SPAN_MS] },
  { at: STATISTICS_SPAN_MS + 1, hours: [HOUR_AT, HOUR_AT + STATISTICS_SPAN_MS] },
])(
  "a verification $at ms after the start of an hour counts in the hour it is in",
  ({ at, hours }) => {
    const tally = createVerificationTally(10);
    tally.count(countedKey(), "VALID", HOUR_AT);
    tally.count(countedKey(), "VALID", HOUR_AT + at);
    const counts = [...tally.take()][0]?.batch.counts.filter(
      ({ subject }) => subject.kind === "key",
    );
    expect(counts?.map(({ hourAt }) => hourAt)).toEqual(hours);
  },
);

test("a key that changes its identity counts for each one what was done under it", () => {
  const tally = createVerificationTally(10);
  tally.count(countedKey({}, "id_1"), "VALID", HOUR_AT);
  tally.count(countedKey(), "VALID", HOUR_AT);
  tally.count(countedKey({}, "id_2"), "VALID", HOUR_AT);
  const counts = [...tally.take()][0]?.batch.counts ?? [];
  const of = (kind: string) =>
    counts.filter(({ subject }) => subject.kind === kind).map(({ count }) => count);
  expect([of("key"), of("api"), of("identity")]).toEqual([[3], [3], [1, 1]]);
});

test("a key that was counted before, loaded once or afresh, goes on in the same counter", () => {
  const tally = createVerificationTally(10);
  const cached = countedKey();
  for (const key of [cached, cached, countedKey(), cached]) tally.count(key, "VALID", HOUR_AT);
  expect(tally.heldKeys).toBe(1);
  expect([...tally.take()][0]?.batch.counts).toContainEqual(ofKey("VALID", 4));
});

test("a key that was counted before it was handed out begins anew", () => {
  const tally = createVerificationTally(10);
  const cached = countedKey();
  tally.count(cached, "VALID", HOUR_AT);
  tally.take();
  tally.count(cached, "VALID", HOUR_AT);
  expect([...tally.take()][0]?.batch.counts).toContainEqual(ofKey("VALID", 1));
});

test("a key that another tally counted is counted in this one", () => {
  const cached = countedKey();
  createVerificationTally(10).count(cached, "VALID", HOUR_AT);
  const tally = createVerificationTally(10);
  tally.count(cached, "VALID", HOUR_AT);
  expect([...tally.take()][0]?.batch.counts).toContainEqual(ofKey("VALID", 1));
});

test("keys of different workspaces come in batches of their own", () => {
  const tally = createVerificationTally(10);
  tally.count(countedKey(), "VALID", HOUR_AT);
  tally.count(countedKey({ id: "key_2", workspaceId: "ws_2" }), "VALID", HOUR_AT);
  expect([...tally.take()].map(({ workspaceId }) => workspaceId)).toEqual(["ws_default", "ws_2"]);
});

test.each([
  { keys: 1, counted: 1 },
  { keys: 2, counted: 2 },
  { keys: 3, counted: 2 },
])("of $keys keys, $counted are counted where 2 are held at most", ({ keys, counted }) => {
  const tally = createVerificationTally(2);
  for (let index = 0; index < keys; index += 1)
    tally.count(keyNamed(`key_${index}`), "VALID", HOUR_AT);
  expect(tally.heldKeys).toBe(counted);
});

test("a key that is held goes on being counted while there is no room for another", () => {
  const tally = createVerificationTally(1);
  for (const id of ["key_1", "key_2", "key_1"]) tally.count(keyNamed(id), "VALID", HOUR_AT);
  expect([...tally.take()][0]?.batch.counts).toContainEqual(ofKey("VALID", 2));
});

test("what comes back is handed out again, together with what was counted since", () => {
  const tally = createVerificationTally(10);
  tally.count(countedKey(), "VALID", HOUR_AT + 9);
  for (const batch of tally.take()) tally.giveBack(batch);
  tally.count(countedKey(), "VALID", HOUR_AT + 10);
  const [again] = tally.take();
  expect(again?.batch.counts).toContainEqual(ofKey("VALID", 2));
  expect(again?.batch.lastUsed).toEqual([{ keyId: "key_1", usedAt: HOUR_AT + 10 }]);
});

test("a store that stays away does not fill the memory: the oldest batches are let go of", () => {
  const tally = createVerificationTally(10);
  for (let index = 0; index <= MAX_RETURNED; index += 1) {
    const counts = [
      { subject: { kind: "key", id: `key_${index}` }, hourAt: 0, code: "VALID", count: 1 },
    ];
    tally.giveBack({
      workspaceId: "ws_default",
      batch: { ...emptyBatch, counts } as StatisticsBatch,
    });
  }
  const ids = [...tally.take()].flatMap(({ batch }) =>
    batch.counts.map(({ subject }) => subject.id),
  );
  expect(ids).toHaveLength(MAX_RETURNED);
  expect(ids).not.toContain("key_0");
});

test.each([
  { keys: MAX_BATCH_SIZE - 1, batches: 1 },
  { keys: MAX_BATCH_SIZE, batches: 2 },
])(
  "no batch has more than its bound: $keys keys and their API make $batches",
  ({ keys, batches }) => {
    const tally = createVerificationTally(2 * keys);
    for (let index = 0; index < keys; index += 1)
      tally.count(keyNamed(`key_${index}`), "VALID", HOUR_AT);
    const sizes = [...tally.take()].map(({ batch }) => batch.counts.length);
    expect(sizes).toHaveLength(batches);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_BATCH_SIZE);
  },
);

test("very many keys are put together a batch at a time, and each once", () => {
  const keys = 3 * MAX_BATCH_SIZE;
  const tally = createVerificationTally(keys);
  for (let index = 0; index < keys; index += 1)
    tally.count(keyNamed(`key_${index}`), "VALID", HOUR_AT);
  const batches = [...tally.take()].map(({ batch }) => batch.lastUsed.map(({ keyId }) => keyId));
  expect(batches.map(({ length }) => length)).toEqual([499, 499, 499, 3]);
  expect(new Set(batches.flat()).size).toBe(keys);
});
