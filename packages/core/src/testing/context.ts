import { createLruCache } from "../lib/lru-cache.js";
import { createRandomPool } from "../lib/random.js";
import { KnownIds, type OperationContext } from "../operations/context.js";
import { readNoticeSettings } from "../rules/notice.js";
import { createSecretHasher } from "../secrets/hash.js";
import type { SettledStore } from "../store/settled-store.js";
import { createTransact } from "../store/transaction.js";
import { Catalog } from "../verification/catalog.js";
import { KeyCache } from "../verification/key-cache.js";
import { TestStore } from "./store.js";

/** The context of operations, over a store that only reads and commits; ids are numbered. */
export function contextWith(
  fields: Partial<OperationContext> = {},
  store: TestStore = new TestStore(),
): OperationContext {
  let ids = 0;
  return {
    store: store as Pick<SettledStore, "read" | "commit"> as SettledStore,
    transact: createTransact(store, createRandomPool()),
    catalog: new Catalog(store),
    workspaceId: "ws_default",
    now: () => 1_000,
    readStoreClock: () => 1_000,
    newId: (kind) => {
      ids += 1;
      return `${kind}_${ids}`;
    },
    random: (size) => new Uint8Array(size),
    hasher: createSecretHasher(null),
    vault: null,
    tokens: null,
    cache: new KeyCache(0),
    reserved: createLruCache(0),
    rootKeys: createLruCache(0),
    knownIds: new KnownIds(),
    knownApis: createLruCache(100),
    confinedTo: null,
    actor: null,
    keyMeta: null,
    identityMeta: null,
    keepsAuditLog: true,
    notice: readNoticeSettings(),
    emit: null,
    timer: () => 0,
    awaitLeases: () => Promise.resolve(),
    call: null,
    readsOfLogEnd: new Map(),
    crossings: null,
    recorder: null,
    ...fields,
  };
}
