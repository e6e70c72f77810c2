import assert from "node:assert/strict";
import {
  COUNTED_CODES,
  type CountSubject,
  type HourCount,
  type KeyStore,
  NO_CHANGES,
  type SubjectCount,
} from "@latchkey/core";
import {
  aKey,
  aKeyWithUses,
  aNewKey,
  anIdentity,
  aPlan,
  DAY_MS,
  HOUR_MS,
  hashOf,
  idOf,
  NOW,
  OTHER_WORKSPACE,
  REMOVAL,
  WORKSPACE,
} from "./fixtures.js";
import { race } from "./race.js";
import { assertSameKey, insert, listedKeyIds, load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY: CountSubject = { kind: "key", id: idOf("key", 1) };
const API: CountSubject = { kind: "api", id: idOf("api", 1) };
const IDENTITY: CountSubject = { kind: "identity", id: idOf("id", 1) };
const SUBJECTS = [KEY, API, IDENTITY];

/** Start of the day of {@link NOW}. */
const TODAY = NOW - (NOW % DAY_MS);

/** A count of valid verifications, unless `fields` say otherwise. */
function counted(subject: CountSubject, count = 1, fields: Partial<HourCount> = {}): SubjectCount {
  return { subject, hourAt: NOW, code: "VALID", count, ...fields };
}

function add(store: KeyStore, ...counts: readonly SubjectCount[]) {
  return store.addVerifications(WORKSPACE, { counts, lastUsed: [] });
}

function use(store: KeyStore, keyId: string, usedAt: number, workspaceId = WORKSPACE) {
  return store.addVerifications(workspaceId, { counts: [], lastUsed: [{ keyId, usedAt }] });
}

/** What was counted, with the verdicts of one hour in the order of their codes. */
async function read(
  store: KeyStore,
  subject: CountSubject,
  startAt = 0,
  endAt = Number.MAX_SAFE_INTEGER,
): Promise<readonly HourCount[]> {
  const counts = await store.getVerifications(WORKSPACE, subject, startAt, endAt);
  const hours = counts.map(({ hourAt }) => hourAt);
  assert.deepEqual(
    hours,
    hours.toSorted((one, two) => one - two),
  );
  return counts.toSorted((one, two) => one.hourAt - two.hourAt || (one.code < two.code ? -1 : 1));
}

function withSubjects(store: KeyStore) {
  return withKeys(store, aNewKey(aKey(), { identity: anIdentity() }));
}

export const verificationCountPromises: readonly StorePromise[] = [
  {
    title: "counts are added to what was counted before, by whichever process",
    async check({ store, other }) {
      await withSubjects(store);
      await add(store, counted(KEY, 2), counted(API, 5));
      await add(other, counted(KEY, 40), counted(IDENTITY, 7));
      const at = { hourAt: NOW, code: "VALID" };
      for (const handle of [store, other]) {
        assert.deepEqual(await read(handle, KEY), [{ ...at, count: 42 }]);
        assert.deepEqual(await read(handle, API), [{ ...at, count: 5 }]);
        assert.deepEqual(await read(handle, IDENTITY), [{ ...at, count: 7 }]);
      }
    },
  },
  {
    title: "of many who add at once no count is lost",
    async check(stage) {
      await withSubjects(stage.store);
      await race(stage, 30, (store, number) =>
        add(store, counted(KEY, 1 + number), counted(API, 1, { hourAt: NOW + HOUR_MS })),
      );
      const count = (30 * 31) / 2;
      assert.deepEqual(await read(stage.other, KEY), [{ hourAt: NOW, code: "VALID", count }]);
      const hours = await read(stage.other, API);
      assert.deepEqual(hours, [{ hourAt: NOW + HOUR_MS, code: "VALID", count: 30 }]);
    },
  },
  {
    title: "counts are exact up to 2^53 - 1",
    async check({ store, other }) {
      await withSubjects(store);
      const most = Number.MAX_SAFE_INTEGER;
      await add(store, counted(KEY, most - 3));
      for (const count of [1, 2]) await add(other, counted(KEY, count));
      assert.deepEqual(await read(store, KEY), [{ hourAt: NOW, code: "VALID", count: most }]);
    },
  },
  {
    title: "a batch of a thousand counts is added whole",
    async check({ store, other }) {
      await withSubjects(store);
      const hours = Array.from({ length: 1_000 }, (_, hour) => NOW - hour * HOUR_MS);
      const counts = hours.map((hourAt, index) => counted(KEY, index + 1, { hourAt }));
      await add(store, ...counts);
      const found = await read(other, KEY);
      assert.deepEqual(
        found.map(({ count }) => count),
        counts.map(({ count }) => count).reverse(),
      );
    },
  },
  {
    title: "every verdict is counted by itself",
    async check({ store, other }) {
      await withSubjects(store);
      await add(store, ...COUNTED_CODES.map((code, index) => counted(KEY, index + 1, { code })));
      const expected = COUNTED_CODES.map((code, index) => ({
        hourAt: NOW,
        code,
        count: index + 1,
      }));
      assert.deepEqual(
        await read(other, KEY),
        expected.toSorted((one, two) => (one.code < two.code ? -1 : 1)),
      );
    },
  },
  {
    title: "a key, an identity and an API of one id are counted apart, and so are keys",
    async check({ store }) {
      await withKeys(store, aNewKey(), aNewKey(aKey(2)));
      await add(store, counted(KEY, 3), counted({ kind: "key", id: idOf("key", 2) }, 4));
      for (const kind of ["identity", "api"] as const) {
        assert.deepEqual(await read(store, { kind, id: KEY.id }), []);
      }
      assert.equal((await read(store, KEY))[0]?.count, 3);
    },
  },
  {
    title: "hours are answered from the start, included, to the end, not included",
    async check({ store, other }) {
      await withSubjects(store);
      const hours = [50, -3, 0, 24, 1, -24].map((hour) => NOW + hour * HOUR_MS);
      await add(store, ...hours.map((hourAt) => counted(KEY, 1, { hourAt })));
      const ascending = hours.toSorted((one, two) => one - two);
      const [first, second, , fourth, , last] = ascending as [
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      for (const [startAt, endAt, from, to] of [
        [0, Number.MAX_SAFE_INTEGER, 0, 6],
        [first, last, 0, 5],
        [first, last + 1, 0, 6],
        [first - 1, last - 1, 0, 5],
        [first + 1, last, 1, 5],
        [second, fourth, 1, 3],
        [second, fourth + 1, 1, 4],
        [second, second, 1, 1],
        [second, second + 1, 1, 2],
      ] as const) {
        const found = await read(other, KEY, startAt, endAt);
        assert.deepEqual(
          found.map(({ hourAt }) => hourAt),
          ascending.slice(from, to),
        );
      }
    },
  },
  {
    title: "counts of a subject that nothing was counted of are none",
    async check({ store }) {
      await withSubjects(store);
      for (const subject of SUBJECTS) assert.deepEqual(await read(store, subject), []);
      await store.addVerifications(WORKSPACE, { counts: [], lastUsed: [] });
      assert.deepEqual(await read(store, { kind: "key", id: "__proto__" }), []);
    },
  },
  {
    title: "counting changes no record, no version, no uses and no epoch",
    async check({ store, other }) {
      const loaded = await withSubjects(store);
      await add(store, ...SUBJECTS.map((subject) => counted(subject)));
      assertSameKey(await load(other), loaded);
    },
  },
  {
    title: "the latest use of a key is shown wherever the key is read, and never goes back",
    async check({ store, other }) {
      const loaded = await withSubjects(store);
      assert.equal(loaded.lastUsedAt, null);
      for (const [usedAt, shown] of [
        [NOW, NOW],
        [NOW - 1, NOW],
        [NOW + 1, NOW + 1],
        [NOW, NOW + 1],
      ] as const) {
        await use(store, KEY.id, usedAt);
        const expected = { ...loaded, lastUsedAt: shown };
        assertSameKey(await load(other), expected);
        assertSameKey(await other.findKey(hashOf(1), WORKSPACE), expected);
        const page = { afterId: null, limit: 1 };
        const { items } = await other.listKeys(WORKSPACE, API.id, { identityId: null }, page);
        assertSameKey(items[0] ?? null, expected);
      }
    },
  },
  {
    title: "of many who tell the latest use of a key the latest stays",
    async check(stage) {
      await withSubjects(stage.store);
      await race(stage, 20, (store, number) => use(store, KEY.id, NOW + ((number * 7) % 20)));
      assert.equal((await load(stage.other)).lastUsedAt, NOW + 19);
    },
  },
  {
    title: "the latest use of a key survives its updates and its charges",
    async check({ store, other }) {
      await withKeys(store, aKeyWithUses(5));
      await use(store, KEY.id, NOW);
      const ratelimits = [
        { name: "a", limit: 1, durationMs: 1, type: null, async: false, autoApply: false },
      ];
      await store.updateKey(WORKSPACE, KEY.id, 1, { name: "new", ratelimits }, NO_CHANGES);
      assert.equal((await store.charge(aPlan(await load(other)))).kind, "charged");
      assert.equal((await load(other)).lastUsedAt, NOW);
    },
  },
  {
    title:
      "the latest use of a key that was deleted, or never was, is passed over and makes no key",
    async check({ store, other }) {
      await withKeys(store, aNewKey(), aNewKey(aKey(2)));
      await store.deleteKey(WORKSPACE, KEY.id, REMOVAL, NO_CHANGES);
      const lastUsed = [KEY.id, "key_unknown", idOf("key", 2)].map((keyId) => ({
        keyId,
        usedAt: NOW,
      }));
      await store.addVerifications(WORKSPACE, { counts: [counted(API, 3)], lastUsed });
      assert.equal(await other.getKey(WORKSPACE, KEY.id), null);
      assert.equal(await other.getKey(WORKSPACE, "key_unknown"), null);
      assert.deepEqual(await listedKeyIds(other), [idOf("key", 2)]);
      assert.equal((await load(other, idOf("key", 2))).lastUsedAt, NOW);
      assert.equal((await read(other, API))[0]?.count, 3);
      await insert(other, aNewKey(aKey(3, { hash: hashOf(1) })));
      assert.equal((await load(store, idOf("key", 3))).lastUsedAt, null);
    },
  },
  {
    title: "deleting a key takes nothing from the counts of its API and its identity",
    async check({ store, other }) {
      await withSubjects(store);
      await add(store, counted(API, 3), counted(IDENTITY, 2));
      await store.deleteKey(WORKSPACE, KEY.id, { deletedAt: NOW, permanent: true }, NO_CHANGES);
      assert.equal((await read(other, API))[0]?.count, 3);
      assert.equal((await read(other, IDENTITY))[0]?.count, 2);
    },
  },
  {
    title: "counts and latest uses of one workspace are none of another's",
    async check({ store }) {
      await withSubjects(store);
      await add(store, ...SUBJECTS.map((subject) => counted(subject, 3)));
      for (const subject of SUBJECTS) {
        const asked = [OTHER_WORKSPACE, subject, 0, Number.MAX_SAFE_INTEGER] as const;
        assert.deepEqual(await store.getVerifications(...asked), []);
      }
      await use(store, KEY.id, NOW, OTHER_WORKSPACE);
      assert.equal((await load(store)).lastUsedAt, null);
      await store.deleteVerifications(OTHER_WORKSPACE, NOW + 365 * DAY_MS, 1_000);
      assert.equal((await read(store, KEY))[0]?.count, 3);
    },
  },
  {
    title: "counts of hours before a day are forgotten, a bounded number at a time, and no others",
    async check({ store, other }) {
      await withSubjects(store);
      const days = Array.from({ length: 20 }, (_, index) => TODAY - (index + 1) * DAY_MS);
      const old = days.flatMap((hourAt) => SUBJECTS.map((of) => counted(of, 1, { hourAt })));
      const latest = TODAY - HOUR_MS;
      const kept = [TODAY, TODAY + HOUR_MS, TODAY + DAY_MS];
      await add(store, ...old, counted(KEY, 1, { hourAt: latest }));
      await add(store, ...kept.map((hourAt) => counted(KEY, 1, { hourAt })));
      const first = await store.deleteVerifications(WORKSPACE, TODAY, 2);
      assert.equal(first.hasMore, true);
      const left = await Promise.all(SUBJECTS.map((subject) => read(other, subject, 0, TODAY)));
      assert.ok(left.flat().length >= old.length / 2, "far more than the limit were forgotten");
      let calls = 1;
      while ((await other.deleteVerifications(WORKSPACE, TODAY, 7)).hasMore) {
        calls += 1;
        assert.ok(calls <= old.length + 5, "there are ever more to be forgotten");
      }
      const rest = await read(other, KEY);
      assert.deepEqual(
        rest.map(({ hourAt }) => hourAt),
        kept,
      );
      assert.deepEqual([await read(store, API), await read(store, IDENTITY)], [[], []]);
      const done = await store.deleteVerifications(WORKSPACE, TODAY, 7);
      assert.deepEqual(done, { deleted: 0, hasMore: false });
    },
  },
  {
    title: "counts that were forgotten start anew",
    async check({ store, other }) {
      await withSubjects(store);
      const yesterday = { hourAt: TODAY - HOUR_MS };
      await add(store, counted(KEY, 5, yesterday));
      await store.deleteVerifications(WORKSPACE, TODAY, 1_000);
      await add(other, counted(KEY, 2, yesterday));
      assert.deepEqual(await read(store, KEY), [{ ...yesterday, code: "VALID", count: 2 }]);
    },
  },
];
