import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { restore } from "./restore.js";
import { assertArrived, type Filled, fill } from "./testing/fixture.js";
import { type Charges, charges, openOn, type Setup, setup } from "./testing/limit-charges.js";
import { KINDS, type Kind, startStores, type TestStores } from "./testing/stores.js";

const START = Date.UTC(2030, 0, 15, 10, 20, 30, 400);
const folder = mkdtempSync(join(tmpdir(), "latchkey-pairs-"));
let stores: TestStores;
const sources = new Map<Kind, { readonly store: KeyStore; readonly filled: Filled }>();

beforeAll(async () => {
  stores = await startStores();
  for (const kind of KINDS) {
    const store = stores.open(kind);
    sources.set(kind, { store, filled: await fill(store) });
  }
});

afterAll(async () => {
  await stores.close();
  rmSync(folder, { recursive: true });
});

const PAIRS = KINDS.flatMap((from) =>
  KINDS.filter((to) => to !== from).map((to) => [from, to] as const),
);

test.each(PAIRS)(
  "everything on a %s store arrives on a %s store, including uses and units left",
  async (from, to) => {
    const { store, filled } = sources.get(from) as { store: KeyStore; filled: Filled };
    const target = stores.open(to);
    const report = await copy(store, target);
    expect(report.workspaces).toEqual(["ws_default", "ws_other"]);
    expect(report.counts).toEqual({
      permission: 1,
      role: 1,
      api: 2,
      identity: 1,
      rootKey: 1,
      auditEntry: 17,
      deadline: 1,
      tag: 3,
      key: 9,
      window: 2,
    });
    await assertArrived(target, filled);
  },
);

test.each(KINDS)(
  "after copying a %s store to every other, and restoring a backup, the next 30 charges have the same outcome",
  async (kind) => {
    const [state] = fc.sample(setup, 1) as [Setup];
    const [before, after] = fc.sample(charges, 2) as [Charges, Charges];
    const store = stores.open(kind);
    const source = openOn(store, START);
    const { apiId } = await source.latchkey.createApi({ name: "tiles" });
    const externalId = "user_1";
    await source.latchkey.createIdentity({ externalId, ratelimits: state.shared });
    const { key } = await source.latchkey.createKey({ apiId, externalId, ratelimits: state.own });
    await source.decide(state, key, before);

    const path = join(folder, `${kind}.lkb`);
    await backup(store, path);
    const targets = KINDS.filter((other) => other !== kind).map((other) => stores.open(other));
    for (const target of targets) await copy(store, target);
    const restored = stores.open("memory");
    await restore(restored, path);

    const copiedAt = START + before.reduce((sum, { move }) => sum + move, 0);
    const [expected, ...decided] = await Promise.all([
      source.decide(state, key, after),
      ...[...targets, restored].map((target) => openOn(target, copiedAt).decide(state, key, after)),
    ]);
    for (const each of decided)
      expect({ state, before, after, each }).toEqual({ state, before, after, each: expected });
    expect(new Set(expected.map((each) => JSON.stringify(each))).size).toBeGreaterThan(30);
  },
);
