import assert from "node:assert/strict";
import type { KeyStore } from "@latchkey/core";
import { it, type StoreContract } from "../fixtures/context.js";
import { countOf, DAY_AT, HOUR_AT, SUBJECT } from "../fixtures/counts.js";
import { entriesOf, idsOn, pageOf } from "../fixtures/pages.js";
import { aLimit, aPlan, aPlanOfLimits, aRequest, chargeAs, usedOf } from "../fixtures/plans.js";
import {
  aRecord,
  at,
  commit,
  comparable,
  DAY,
  find,
  HASH,
  KEY,
  load,
  NOW,
  OTHER_WORKSPACE,
  revisionOf,
  stateWith,
  tryCommit,
  usesOf,
  WORKSPACE,
} from "../fixtures/records.js";

/** Ids that a store which only joins strings would take for parts of each other. */
const WORKSPACES = [
  WORKSPACE,
  OTHER_WORKSPACE,
  "ws",
  "ws_default_",
  "WS_DEFAULT",
  "ws_default-key",
];

async function prepare(store: KeyStore, workspaceId: string, remaining = 5): Promise<void> {
  await commit(
    store,
    {
      puts: [{ record: { ...KEY, body: workspaceId }, counters: { usage: usesOf(remaining) } }],
      claims: [{ ...HASH, id: KEY.id }],
      enters: entriesOf([KEY.id]),
      revision: 1,
    },
    workspaceId,
  );
}

export const workspaceContracts: readonly StoreContract[] = [
  it("records, names and lists of one workspace are not there in another", async (store, other) => {
    await prepare(store, WORKSPACE);
    for (const workspaceId of WORKSPACES.slice(1)) {
      assert.equal(await find(other, at("key"), workspaceId), null);
      assert.equal(await find(other, HASH, workspaceId), null);
      const { found, size, revision } = await pageOf(other, {}, workspaceId);
      assert.deepEqual([found, size, revision], [[], 0, 0]);
    }
  }),
  it("the same id, the same name and the same list are apart in each workspace", async (store, other) => {
    for (const workspaceId of WORKSPACES) await prepare(store, workspaceId);
    for (const workspaceId of WORKSPACES) {
      const expected = stateWith({ ...KEY, body: workspaceId }, { usage: usesOf(5) });
      for (const want of [at("key"), HASH])
        assert.deepEqual(comparable(await find(other, want, workspaceId)), expected);
      assert.deepEqual(await idsOn(other, {}, workspaceId), [KEY.id]);
      assert.equal(await revisionOf(other, workspaceId), 1);
    }
  }),
  it("a link names an identity of its own workspace", async (store, other) => {
    const identity = aRecord("identity");
    await commit(store, { puts: [{ record: identity }] }, OTHER_WORKSPACE);
    await commit(store, { puts: [{ record: { ...KEY, link: identity.id } }] });
    assert.equal((await load(other, KEY)).linked, null);
  }),
  it("a deletion, a release or a leaving in one workspace leaves the other as it was", async (store, other) => {
    await prepare(store, WORKSPACE);
    await prepare(store, OTHER_WORKSPACE);
    await commit(other, {
      deletes: [KEY],
      releases: [{ ...HASH, id: KEY.id }],
      leaves: entriesOf([KEY.id]),
      revision: 2,
    });
    assert.ok(await find(other, HASH, OTHER_WORKSPACE));
    assert.deepEqual(await idsOn(other, {}, OTHER_WORKSPACE), [KEY.id]);
    assert.equal(await revisionOf(other, OTHER_WORKSPACE), 1);
  }),
  it("an expectation is judged in the workspace of the change, whatever handle comes with it", async (store, other) => {
    await prepare(store, WORKSPACE);
    const { handle } = await load(store, KEY);
    const expecting = (version: number | "exists" | null) =>
      tryCommit(other, { expects: [{ ...at("key"), version, handle }] }, OTHER_WORKSPACE);
    assert.equal((await expecting(1)).kind, "stale");
    assert.equal((await expecting("exists")).kind, "stale");
    assert.equal((await expecting(null)).kind, "committed");
  }),
  it("a charge confirms and moves what is in the workspace of its plan, whatever handle comes with it", async (store, other) => {
    await prepare(store, WORKSPACE);
    const { handle } = await load(store, KEY);
    const plan = aPlan({
      workspaceId: OTHER_WORKSPACE,
      confirms: [{ ...at("key"), version: 1, handle }],
    });
    const stale = await chargeAs("stale", other, plan);
    assert.equal(stale.moved, 0);
    await prepare(store, OTHER_WORKSPACE, 9);
    await chargeAs("charged", other, { ...plan });
    assert.equal((await load(store, KEY)).usage?.remaining, 5);
    assert.equal((await load(store, KEY, OTHER_WORKSPACE)).usage?.remaining, 8);
  }),
  it("a plan that is copied for another workspace is carried out there", async (store) => {
    await prepare(store, WORKSPACE);
    await prepare(store, OTHER_WORKSPACE, 9);
    const plan = aPlan();
    await chargeAs("charged", store, plan);
    await chargeAs("charged", store, { ...plan, workspaceId: OTHER_WORKSPACE });
    assert.equal((await load(store, KEY)).usage?.remaining, 4);
    assert.equal((await load(store, KEY, OTHER_WORKSPACE)).usage?.remaining, 8);
  }),
  it("the revision that a charge confirms is that of its workspace", async (store, other) => {
    await prepare(store, WORKSPACE);
    await commit(store, { revision: 2 }, OTHER_WORKSPACE);
    await chargeAs("charged", other, aPlan({ revision: 1 }));
    const stale = await chargeAs("stale", other, aPlan({ revision: 2 }));
    assert.equal(stale.moved, "revision");
  }),
  it("windows without an owner are apart in each workspace, and so is their dropping", async (store, other) => {
    const limits = [aLimit({ owner: null, window: "namespace" })];
    for (const workspaceId of WORKSPACES)
      await chargeAs("charged", store, aPlanOfLimits(limits, { confirms: [], workspaceId }));
    await commit(store, { dropWindows: ["namespace"] }, OTHER_WORKSPACE);
    for (const workspaceId of WORKSPACES) {
      const used = await usedOf(other, { workspaceId, owner: null, window: "namespace" });
      assert.equal(used, workspaceId === OTHER_WORKSPACE ? 0 : 1, workspaceId);
    }
  }),
  it("a request id of one workspace is another request in another", async (store, other) => {
    await prepare(store, WORKSPACE);
    await prepare(store, OTHER_WORKSPACE, 9);
    const request = aRequest();
    await chargeAs("charged", store, aPlan(), { request });
    const plan = aPlan({ workspaceId: OTHER_WORKSPACE });
    const { remaining } = await chargeAs("charged", other, plan, {
      request: { ...request, fingerprint: "another" },
    });
    assert.equal(remaining, 8);
  }),
  it("statistics and latest uses are apart in each workspace, and so is their deletion", async (store, other) => {
    for (const workspaceId of [WORKSPACE, OTHER_WORKSPACE]) {
      await prepare(store, workspaceId);
      await store.addStatistics(workspaceId, {
        counts: [countOf({ count: 3 })],
        uses: workspaceId === WORKSPACE ? [{ ...at("key"), usedAt: NOW }] : [],
      });
    }
    assert.equal((await load(other, KEY)).usedAt, NOW);
    assert.equal((await load(other, KEY, OTHER_WORKSPACE)).usedAt, null);
    const deleted = await other.deleteStatistics(OTHER_WORKSPACE, DAY_AT + DAY, 1_000);
    assert.deepEqual(deleted, { deleted: 1, hasMore: false });
    const range = { subject: SUBJECT, startAt: HOUR_AT, endAt: HOUR_AT + 1 };
    assert.deepEqual(await other.readStatistics(OTHER_WORKSPACE, range), []);
    assert.deepEqual(await other.readStatistics(WORKSPACE, range), [
      { hourAt: HOUR_AT, code: "VALID", count: 3 },
    ]);
  }),
];
