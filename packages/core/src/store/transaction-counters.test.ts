import { describe, expect, test } from "vitest";
import { createRandomPool } from "../lib/random.js";
import { apiType } from "../records/api.js";
import { identityType } from "../records/identity.js";
import { identityWith, loadedWith, usageOf } from "../testing/records.js";
import { TestStore } from "../testing/store.js";
import type { UsageChange } from "./counters.js";
import { createTransact } from "./transaction.js";

const WORKSPACE_ID = "ws_default";
const { api } = loadedWith();

function setUp() {
  const store = new TestStore();
  return { store, transact: createTransact(store, createRandomPool()) };
}

describe("a counter of a transaction", () => {
  const identity = identityWith();
  const address = { kind: "identity", id: "id_1" } as const;
  const by = (amount: number): UsageChange => ({
    due: null,
    operation: { kind: "decrement", by: amount },
    restartsAt: null,
  });
  const refuse = ({ kind }: { readonly kind: string }) => new Error(`refused: ${kind}`);

  test("changes as it is at the commit, and its new value is returned", async () => {
    const { store, transact } = setUp();
    store.put(identityType, identity, usageOf(10));
    const { usages } = await transact(WORKSPACE_ID, async (transaction) => {
      await transaction.readOne(address);
      // A charge meanwhile changes no version, so nothing is stale.
      store.put(identityType, identity, usageOf(8));
      transaction.changeCounters({ ...address, usage: by(3) }, refuse);
    });
    expect(usages).toEqual([usageOf(5)]);
  });

  test("that refuses is the error that the operation gives for it, and nothing is written", async () => {
    const { store, transact } = setUp();
    store.put(identityType, identity, usageOf(2));
    const changing = transact(WORKSPACE_ID, async (transaction) => {
      transaction.insert(apiType, api);
      transaction.changeCounters({ ...address, usage: by(1) }, () => new Error("not this one"));
      transaction.changeCounters({ ...address, usage: by(3) }, refuse);
    });
    await expect(changing).rejects.toThrow("refused: insufficient");
    expect(store.get(address)?.usage).toEqual(usageOf(2));
    expect(store.get({ kind: "api", id: "api_1" })).toBeNull();
  });
});
