import assert from "node:assert/strict";
import { NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aNewKey,
  anApi,
  anIdentity,
  aPlan,
  aSharedLimit,
  idOf,
  loadedIdentity,
  named,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { assertUpdated, insert, listedKeyIds, load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);
const FIRST_PAGE = { afterId: null, limit: 100 };

export const identityPromises: readonly StorePromise[] = [
  {
    title: "an identity is found by its id and by its external id, as it was written",
    async check({ store, other }) {
      const identity = anIdentity(1, {
        meta: { plan: "pro" },
        ratelimits: [aSharedLimit("requests", 5)],
      });
      assert.equal(await store.insertIdentity(identity, UNLIMITED, NO_CHANGES), "inserted");
      const { id: identityId, externalId } = identity;
      assert.deepEqual(
        await other.getIdentity(WORKSPACE, { identityId }),
        loadedIdentity(identity),
      );
      assert.deepEqual(
        await other.getIdentity(WORKSPACE, { externalId }),
        loadedIdentity(identity),
      );
    },
  },
  {
    title: "external ids that differ in a case or a blank are different",
    async check({ store }) {
      for (const [index, externalId] of [
        "User",
        "user",
        "user ",
        " user",
        "usér",
        "use\u0301r",
      ].entries()) {
        assert.equal(
          await store.insertIdentity(anIdentity(index, { externalId }), UNLIMITED, NO_CHANGES),
          "inserted",
        );
      }
      const found = await store.getIdentity(WORKSPACE, { externalId: "user" });
      assert.equal(found?.identity.id, idOf("id", 1));
    },
  },
  {
    title: "of many racers for one external id exactly one is inserted",
    async check(stage) {
      const answers = await race(stage, 20, (store, number) =>
        store.insertIdentity(
          anIdentity(number, { externalId: "contested" }),
          UNLIMITED,
          NO_CHANGES,
        ),
      );
      assert.deepEqual(tally(answers), { inserted: 1, "external-id-taken": 19 });
      const { items, total } = await stage.other.listIdentities(WORKSPACE, FIRST_PAGE);
      assert.deepEqual([items.length, total], [1, 1]);
      assert.equal(items[0]?.identity.id, idOf("id", answers.indexOf("inserted")));
    },
  },
  {
    title: "an identity asked for by many new keys at once is created once and linked to all",
    async check(stage) {
      await stage.store.insertApi(anApi(), NO_CHANGES);
      await race(stage, 20, (store, number) =>
        insert(
          store,
          aNewKey(aKey(number), { identity: anIdentity(number, { externalId: "shared" }) }),
        ),
      );
      const { items, total } = await stage.store.listIdentities(WORKSPACE, FIRST_PAGE);
      assert.equal(total, 1);
      assert.equal((await listedKeyIds(stage.store, items[0]?.identity.id)).length, 20);
      for (let number = 0; number < 20; number += 1) {
        const { key, identity } = await load(stage.other, idOf("key", number));
        assert.equal(key.identityId, items[0]?.identity.id);
        assert.deepEqual(identity, items[0]?.identity);
      }
    },
  },
  {
    title: "an identity that exists is linked and stays as it is",
    async check({ store }) {
      const existing = anIdentity(1, {
        meta: { plan: "pro" },
        ratelimits: [aSharedLimit("requests", 5)],
      });
      await store.insertIdentity(existing, UNLIMITED, NO_CHANGES);
      const candidate = anIdentity(2, { externalId: existing.externalId, meta: { plan: "free" } });
      const { key, identity } = await withKeys(store, aNewKey(aKey(), { identity: candidate }));
      assert.equal(key.identityId, existing.id);
      assert.deepEqual(identity, existing);
      assert.equal(await store.getIdentity(WORKSPACE, { identityId: candidate.id }), null);
    },
  },
  {
    title: "a key can be linked to an identity by its id alone",
    async check({ store }) {
      await store.insertIdentity(anIdentity(), UNLIMITED, NO_CHANGES);
      const { identity } = await withKeys(store, aNewKey(aKey(1, { identityId: idOf("id", 1) })));
      assert.deepEqual(identity, anIdentity());
      assert.deepEqual(await listedKeyIds(store, idOf("id", 1)), [KEY_ID]);
    },
  },
  {
    title: "a key is linked by the external id where both that and an id are given",
    async check({ store, other }) {
      await store.insertIdentity(anIdentity(1), UNLIMITED, NO_CHANGES);
      await store.insertApi(anApi(), NO_CHANGES);
      const key = aKey(1, { identityId: idOf("id", 1) });
      await insert(store, aNewKey(key, { identity: anIdentity(2) }));
      const loaded = await load(other);
      assert.deepEqual(loaded.identity, anIdentity(2));
      assert.equal(loaded.key.identityId, idOf("id", 2));
    },
  },
  {
    title: "a refused key leaves no identity behind",
    async check({ store }) {
      await store.insertApi(anApi(), NO_CHANGES);
      const grants = { permissions: [named("missing")] };
      const result = await store.insertKeys(
        [aNewKey(aKey(), { identity: anIdentity(), grants })],
        NO_CHANGES,
      );
      assert.equal(result.kind, "missing-grants");
      assert.equal((await store.listIdentities(WORKSPACE, FIRST_PAGE)).total, 0);
    },
  },
  {
    title: "an update links a key to an identity, creates it on demand, and unlinks it again",
    async check({ store, other }) {
      await withKeys(store, aNewKey());
      const candidates = [
        anIdentity(1),
        anIdentity(2),
        anIdentity(3, { externalId: "user-1" }),
        null,
      ];
      const expected = [idOf("id", 1), idOf("id", 2), idOf("id", 1), null];
      for (const [index, identity] of candidates.entries()) {
        assertUpdated(
          await store.updateKey(WORKSPACE, KEY_ID, index + 1, { identity }, NO_CHANGES),
        );
        const loaded = await load(other);
        assert.equal(loaded.key.version, index + 2);
        assert.equal(loaded.key.identityId, expected[index]);
        assert.equal(loaded.identity?.id ?? null, expected[index]);
        for (const number of [1, 2]) {
          const listed = await listedKeyIds(other, idOf("id", number));
          assert.deepEqual(listed, expected[index] === idOf("id", number) ? [KEY_ID] : []);
        }
      }
      assert.equal((await store.listIdentities(WORKSPACE, FIRST_PAGE)).total, 2);
    },
  },
  {
    title: "an update that leaves the identity out keeps the link",
    async check({ store }) {
      await withKeys(store, aNewKey(aKey(), { identity: anIdentity() }));
      assertUpdated(await store.updateKey(WORKSPACE, KEY_ID, 1, { name: "new" }, NO_CHANGES));
      assert.deepEqual((await load(store)).identity, anIdentity());
      assert.deepEqual(await listedKeyIds(store, idOf("id", 1)), [KEY_ID]);
    },
  },
  {
    title: "a stale or refused update creates no identity",
    async check({ store }) {
      await withKeys(store, aNewKey());
      const identity = anIdentity();
      await store.updateKey(WORKSPACE, KEY_ID, 9, { identity }, NO_CHANGES);
      await store.updateKey(
        WORKSPACE,
        KEY_ID,
        1,
        {
          identity,
          grants: { roles: [named("missing")] },
        },
        NO_CHANGES,
      );
      assert.equal((await store.listIdentities(WORKSPACE, FIRST_PAGE)).total, 0);
    },
  },
  {
    title:
      "an update of an identity sets what it gives, raises the version and shows in all its keys",
    async check({ store, other }) {
      await withKeys(store, aNewKey(aKey(), { identity: anIdentity() }));
      const ratelimits = [aSharedLimit("requests", 5)];
      assert.deepEqual(
        await store.updateIdentity(WORKSPACE, idOf("id", 1), 1, { ratelimits }, NO_CHANGES),
        { kind: "updated", usage: UNLIMITED },
      );
      assert.deepEqual((await load(other)).identity, anIdentity(1, { ratelimits, version: 2 }));
      const meta = { plan: "pro" };
      const refill = { interval: "monthly", amount: 30, refillDay: 31 } as const;
      await store.updateIdentity(WORKSPACE, idOf("id", 1), 2, { meta, refill }, NO_CHANGES);
      assert.deepEqual(
        (await load(other)).identity,
        anIdentity(1, { ratelimits, meta, refill, version: 3 }),
      );
      await store.updateIdentity(WORKSPACE, idOf("id", 1), 3, { refill: null }, NO_CHANGES);
      assert.deepEqual(
        (await load(other)).identity,
        anIdentity(1, { ratelimits, meta, version: 4 }),
      );
    },
  },
  {
    title:
      "an update of an identity that expects another version is stale, and of an unknown one not found",
    async check({ store }) {
      await store.insertIdentity(anIdentity(1, { version: 3 }), UNLIMITED, NO_CHANGES);
      const patch = { meta: { plan: "pro" } };
      for (const [number, version, kind] of [
        [1, 2, "stale"],
        [1, 4, "stale"],
        [2, 1, "not-found"],
      ] as const) {
        const id = idOf("id", number);
        assert.deepEqual(await store.updateIdentity(WORKSPACE, id, version, patch, NO_CHANGES), {
          kind,
        });
      }
      const found = await store.getIdentity(WORKSPACE, { identityId: idOf("id", 1) });
      assert.deepEqual(found, loadedIdentity(anIdentity(1, { version: 3 })));
    },
  },
  {
    title: "of many racers that update one version of an identity exactly one wins",
    async check(stage) {
      await stage.store.insertIdentity(anIdentity(), UNLIMITED, NO_CHANGES);
      const answers = await race(stage, 20, (store, number) =>
        store.updateIdentity(WORKSPACE, idOf("id", 1), 1, { meta: { number } }, NO_CHANGES),
      );
      const kinds = answers.map(({ kind }) => kind);
      assert.deepEqual(tally(kinds), { updated: 1, stale: 19 });
      const found = await stage.store.getIdentity(WORKSPACE, { externalId: "user-1" });
      const meta = { number: kinds.indexOf("updated") };
      assert.deepEqual(found?.identity, anIdentity(1, { meta, version: 2 }));
    },
  },
  {
    title: "an identity's version does not change when keys are linked to it or charged",
    async check({ store }) {
      const loaded = await withKeys(store, aNewKey(aKey(), { identity: anIdentity() }));
      await insert(store, aNewKey(aKey(2), { identity: anIdentity(2, { externalId: "user-1" }) }));
      assert.equal((await store.charge(aPlan(loaded))).kind, "charged");
      assert.deepEqual((await load(store)).identity, anIdentity());
    },
  },
];
