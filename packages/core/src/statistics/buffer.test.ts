import { expect, test } from "vitest";
import { STATISTICS_SPAN_MS, type StatisticsBatch } from "../store/statistics.js";
import { identityWith, loadedWith } from "../testing/records.js";
import { type CachedKey, cachedKey } from "../verification/key-cache.js";
import { createStatisticsBuffer, MAX_BATCH_SIZE, MAX_RETURNED_SIZE } from "./buffer.js";

const HOUR_AT = 100 * STATISTICS_SPAN_MS;

/** A key as a verification counts it: loaded afresh, of an identity or of none. */
function countedKey(
  fields: { id?: string; workspaceId?: string } = {},
  identityId?: string,
): CachedKey {
  const identity = identityId === undefined ? null : identityWith({ id: identityId });
  return cachedKey(loadedWith(fields, { identity }), []);
}
const keyNamed = (id: string) => countedKey({ id });
const ofKey = (code: string, count: number, hourAt = HOUR_AT) => ({
  subject: { kind: "key", id: "key_1" },
  hourAt,
  code,
  count,
});

test("a verification counts for the key, its API and its identity", () => {
  const buffer = createStatisticsBuffer(10);
  buffer.count(countedKey({}, "id_1"), "VALID", HOUR_AT + 5);
  const subjects = [
    { kind: "key", id: "key_1" },
    { kind: "api", id: "api_1" },
    { kind: "identity", id: "id_1" },
  ];
  expect([...buffer.take()]).toEqual([
    {
      workspaceId: "ws_default",
      batch: {
        counts: subjects.map((subject) => ({ subject, hourAt: HOUR_AT, code: "VALID", count: 1 })),
        uses: [{ kind: "key", id: "key_1", usedAt: HOUR_AT + 5 }],
      },
    },
  ]);
});

test("the first verification of a key is distinguished from those that follow, in each hour and after everything was taken out", () => {
  const buffer = createStatisticsBuffer(1);
  const key = countedKey();
  expect(buffer.count(key, "VALID", HOUR_AT)).toBe(true);
  expect(buffer.count(key, "DISABLED", HOUR_AT + STATISTICS_SPAN_MS - 1)).toBe(false);
  buffer.take();
  expect(buffer.count(key, "VALID", HOUR_AT + STATISTICS_SPAN_MS - 1)).toBe(true);
  buffer.take();
  expect(buffer.count(key, "VALID", HOUR_AT + STATISTICS_SPAN_MS)).toBe(true);
});

test("a verification that is not counted is not a first one", () => {
  const buffer = createStatisticsBuffer(1);
  buffer.count(keyNamed("key_1"), "VALID", HOUR_AT);
  expect(buffer.count(keyNamed("key_2"), "VALID", HOUR_AT)).toBe(false);
});

test("counts that were taken out are no longer held", () => {
  const buffer = createStatisticsBuffer(10);
  buffer.count(countedKey(), "VALID", HOUR_AT);
  expect(buffer.heldKeys).toBe(1);
  buffer.take();
  expect(buffer.heldKeys).toBe(0);
  expect([...buffer.take()]).toEqual([]);
});

test("a verification that is answered after a later one does not move the latest use back", () => {
  const buffer = createStatisticsBuffer(10);
  buffer.count(countedKey(), "VALID", HOUR_AT + 2);
  buffer.count(countedKey(), "VALID", HOUR_AT + 1);
  buffer.count(countedKey(), "VALID", HOUR_AT - 1);
  const [batch] = [...buffer.take()];
  expect(batch?.batch.uses).toEqual([{ kind: "key", id: "key_1", usedAt: HOUR_AT + 2 }]);
  expect(batch?.batch.counts).toContainEqual(ofKey("VALID", 3));
});

test("only a VALID verification is a use of the key", () => {
  const buffer = createStatisticsBuffer(10);
  buffer.count(countedKey(), "VALID", HOUR_AT + 1);
  buffer.count(countedKey(), "RATE_LIMITED", HOUR_AT + 2);
  expect([...buffer.take()][0]?.batch.uses).toEqual([
    { kind: "key", id: "key_1", usedAt: HOUR_AT + 1 },
  ]);
  buffer.count(countedKey(), "EXPIRED", HOUR_AT + 3);
  expect([...buffer.take()][0]?.batch.uses).toEqual([]);
});

test.each([
  { at: STATISTICS_SPAN_MS - 1, hours: [HOUR_AT] },
  { at: STATISTICS_SPAN_MS, hours: [HOUR_AT, HOUR_AT + STATISTICS_SPAN_MS] },
  { at: STATISTICS_SPAN_MS + 1, hours: [HOUR_AT, HOUR_AT + STATISTICS_SPAN_MS] },
])(
  "a verification $at ms after the start of an hour counts in the hour it is in",
  ({ at, hours }) => {
    const buffer = createStatisticsBuffer(10);
    buffer.count(countedKey(), "VALID", HOUR_AT);
    buffer.count(countedKey(), "VALID", HOUR_AT + at);
    const counts = [...buffer.take()][0]?.batch.counts.filter(
      ({ subject }) => subject.kind === "key",
    );
    expect(counts?.map(({ hourAt }) => hourAt)).toEqual(hours);
  },
);

test("a key that changes its identity counts for each identity what was done under it", () => {
  const buffer = createStatisticsBuffer(10);
  buffer.count(countedKey({}, "id_1"), "VALID", HOUR_AT);
  buffer.count(countedKey(), "VALID", HOUR_AT);
  buffer.count(countedKey({}, "id_2"), "VALID", HOUR_AT);
  const counts = [...buffer.take()][0]?.batch.counts ?? [];
  const of = (kind: string) =>
    counts.filter(({ subject }) => subject.kind === kind).map(({ count }) => count);
  expect([of("key"), of("api"), of("identity")]).toEqual([[3], [3], [1, 1]]);
});

test("a key that was counted before, loaded once or afresh, continues in the same counter", () => {
  const buffer = createStatisticsBuffer(10);
  const cached = countedKey();
  for (const key of [cached, cached, countedKey(), cached]) buffer.count(key, "VALID", HOUR_AT);
  expect(buffer.heldKeys).toBe(1);
  expect([...buffer.take()][0]?.batch.counts).toContainEqual(ofKey("VALID", 4));
});

test("a key whose counts were taken out starts a new counter", () => {
  const buffer = createStatisticsBuffer(10);
  const cached = countedKey();
  buffer.count(cached, "VALID", HOUR_AT);
  buffer.take();
  buffer.count(cached, "VALID", HOUR_AT);
  expect([...buffer.take()][0]?.batch.counts).toContainEqual(ofKey("VALID", 1));
});

test("a key that another buffer counted is counted in this one", () => {
  const cached = countedKey();
  createStatisticsBuffer(10).count(cached, "VALID", HOUR_AT);
  const buffer = createStatisticsBuffer(10);
  buffer.count(cached, "VALID", HOUR_AT);
  expect([...buffer.take()][0]?.batch.counts).toContainEqual(ofKey("VALID", 1));
});

test("keys of a workspace share batches, in whatever order those of many workspaces were used", () => {
  const buffer = createStatisticsBuffer(2_000);
  for (let key = 0; key < 20; key += 1)
    for (let workspace = 0; workspace < 100; workspace += 1) {
      const fields = { id: `key_${workspace}_${key}`, workspaceId: `ws_${workspace}` };
      buffer.count(countedKey(fields), "VALID", HOUR_AT);
    }
  const batches = [...buffer.take()];
  expect(batches.map(({ workspaceId }) => workspaceId)).toEqual(
    Array.from({ length: 100 }, (_, workspace) => `ws_${workspace}`),
  );
  for (const { batch } of batches) expect(batch.uses).toHaveLength(20);
});

test("counts of one workspace can be taken out alone; the others stay, and are counted on", () => {
  const buffer = createStatisticsBuffer(3);
  const [own, other] = [countedKey(), countedKey({ id: "key_2", workspaceId: "ws_2" })];
  for (const key of [own, other]) buffer.count(key, "VALID", HOUR_AT);
  const taken = buffer.take("ws_default");
  // Built lazily: what is counted meanwhile is not among them.
  expect([own, other].map((key) => buffer.count(key, "VALID", HOUR_AT))).toEqual([true, false]);
  expect([...taken].map(({ workspaceId }) => workspaceId)).toEqual(["ws_default"]);
  expect(buffer.heldKeys).toBe(2);
  const left = [...buffer.take()].map(({ workspaceId, batch }) => [
    workspaceId,
    batch.counts[0]?.count,
  ]);
  expect(left).toEqual([
    ["ws_2", 2],
    ["ws_default", 1],
  ]);
});

test("keys of different workspaces come in batches of their own", () => {
  const buffer = createStatisticsBuffer(10);
  buffer.count(countedKey(), "VALID", HOUR_AT);
  buffer.count(countedKey({ id: "key_2", workspaceId: "ws_2" }), "VALID", HOUR_AT);
  expect([...buffer.take()].map(({ workspaceId }) => workspaceId)).toEqual(["ws_default", "ws_2"]);
});

test.each([
  { keys: 1, counted: 1 },
  { keys: 2, counted: 2 },
  { keys: 3, counted: 2 },
])("of $keys keys, $counted are counted if at most 2 are held", ({ keys, counted }) => {
  const buffer = createStatisticsBuffer(2);
  for (let index = 0; index < keys; index += 1)
    buffer.count(keyNamed(`key_${index}`), "VALID", HOUR_AT);
  expect(buffer.heldKeys).toBe(counted);
});

test("a held key is still counted while there is no room for another", () => {
  const buffer = createStatisticsBuffer(1);
  for (const id of ["key_1", "key_2", "key_1"]) buffer.count(keyNamed(id), "VALID", HOUR_AT);
  expect([...buffer.take()][0]?.batch.counts).toContainEqual(ofKey("VALID", 2));
});

test("batches that are given back are taken out again, together with later counts", () => {
  const buffer = createStatisticsBuffer(10);
  buffer.count(countedKey(), "VALID", HOUR_AT + 9);
  for (const batch of buffer.take()) buffer.giveBack(batch);
  buffer.count(countedKey(), "VALID", HOUR_AT + 10);
  const [again] = buffer.take();
  expect(again?.batch.counts).toContainEqual(ofKey("VALID", 2));
  expect(again?.batch.uses).toEqual([{ kind: "key", id: "key_1", usedAt: HOUR_AT + 10 }]);
});

test("a store that stays away does not fill the memory: of all counts, the oldest are dropped", () => {
  const buffer = createStatisticsBuffer(10);
  const give = (workspaceId: string, names: readonly string[]) => {
    const counts = names.map((id) => ({
      ...{ subject: { kind: "key", id }, hourAt: 0, code: "VALID", count: 1 },
    }));
    buffer.giveBack({ workspaceId, batch: { counts, uses: [] } as StatisticsBatch });
  };
  const hundred = Array.from({ length: 100 }, (_, index) => `key_${index}`);
  const held = () => {
    const batches = [...buffer.take()];
    for (const batch of batches) buffer.giveBack(batch);
    return batches.map(({ workspaceId }) => workspaceId);
  };
  const names = Array.from({ length: MAX_RETURNED_SIZE / 100 }, (_, index) => `ws_${index}`);
  expect(names).toHaveLength(2_500);
  for (const name of names) give(name, hundred);
  expect(held()).toEqual(names);
  give("ws_new", hundred);
  expect(held()).toEqual([...names.slice(1), "ws_new"]);
});

test.each([
  { keys: MAX_BATCH_SIZE - 1, batches: 1 },
  { keys: MAX_BATCH_SIZE, batches: 2 },
])(
  "no batch has more than its bound: $keys keys and their API make $batches",
  ({ keys, batches }) => {
    const buffer = createStatisticsBuffer(2 * keys);
    for (let index = 0; index < keys; index += 1)
      buffer.count(keyNamed(`key_${index}`), "VALID", HOUR_AT);
    const sizes = [...buffer.take()].map(({ batch }) => batch.counts.length);
    expect(sizes).toHaveLength(batches);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_BATCH_SIZE);
  },
);

test("very many keys are batched one batch at a time, and each once", () => {
  const keys = 3 * MAX_BATCH_SIZE;
  const buffer = createStatisticsBuffer(keys);
  for (let index = 0; index < keys; index += 1)
    buffer.count(keyNamed(`key_${index}`), "VALID", HOUR_AT);
  const batches = [...buffer.take()].map(({ batch }) => batch.uses.map(({ id }) => id));
  expect(batches.map(({ length }) => length)).toEqual([499, 499, 499, 3]);
  expect(new Set(batches.flat()).size).toBe(keys);
});

test("taking the counts of one workspace does not look through those of all others", () => {
  const buffer = createStatisticsBuffer(100_000);
  for (let at = 0; at < 50_000; at += 1) {
    const workspaceId = `ws_${at % 1_000}`;
    buffer.count(countedKey({ id: `key_${at}`, workspaceId }), "VALID", HOUR_AT);
  }
  const before = process.cpuUsage();
  for (let at = 0; at < 1_000; at += 1) [...buffer.take(`ws_idle_${at}`)];
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
  expect([...buffer.take("ws_7")].flatMap(({ batch }) => batch.uses)).toHaveLength(50);
  expect(buffer.heldKeys).toBe(49_950);
});
