import { createRandomPool } from "../lib/random.js";
import { apiType } from "../records/api.js";
import type { LoadedRecord } from "../store/key-store.js";
import { createTransact, type Transaction } from "../store/transaction.js";
import { loadedWith } from "./records.js";
import { TestStore } from "./store.js";

/** The API that transactions of tests count in. */
export const { api } = loadedWith();
export const API = { kind: "api", id: api.id } as const;

/** A store that has the API, and transactions on it. */
export function setUp() {
  const store = new TestStore();
  store.put(apiType, api);
  return { store, transact: createTransact(store, createRandomPool()) };
}

/** Counts in a field of the API: a count is lost if two transactions overwrite each other. */
export async function increment(transaction: Transaction): Promise<number> {
  const loaded = await transaction.readOne(API);
  if (loaded === null) throw new Error("no such API");
  const before = apiType.decode(loaded.record, api.workspaceId);
  transaction.update(apiType, before, { ...before, createdAt: before.createdAt + 1 });
  return before.createdAt;
}

export function countIn(store: TestStore): number {
  const { record } = store.get(API) as LoadedRecord;
  return apiType.decode(record, api.workspaceId).createdAt - api.createdAt;
}
