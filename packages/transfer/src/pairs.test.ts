import type { KeyStore } from "@latchkey/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copy } from "./copy.js";
import { assertArrived, type Filled, fill } from "./testing/fixture.js";
import { KINDS, type Kind, startStores, type TestStores } from "./testing/stores.js";

let stores: TestStores;
const sources = new Map<Kind, { readonly store: KeyStore; readonly filled: Filled }>();

beforeAll(async () => {
  stores = await startStores();
  for (const kind of KINDS) {
    const store = stores.open(kind);
    sources.set(kind, { store, filled: await fill(store) });
  }
});

afterAll(() => stores.close());

const PAIRS = KINDS.flatMap((from) =>
  KINDS.filter((to) => to !== from).map((to) => [from, to] as const),
);

test.each(PAIRS)(
  "all of a %s store arrives on a %s store, with what was left",
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
      key: 9,
      window: 2,
    });
    await assertArrived(target, filled);
  },
);
