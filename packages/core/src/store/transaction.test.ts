import { describe, expect, test } from "vitest";
import { LatchkeyError } from "../errors.js";
import { createRandomPool } from "../lib/random.js";
import { apiType } from "../records/api.js";
import { type RoleRecord, roleType } from "../records/grants.js";
import { keyType } from "../records/key.js";
import { API, api, countIn, increment, setUp } from "../testing/counting.js";
import { keyWith, usageOf } from "../testing/records.js";
import type { TestStore } from "../testing/store.js";
import { EMPTY_CHANGE } from "./change.js";
import type { KeyStore, LoadedRecord } from "./key-store.js";
import { createTransact, StaleReadError, type Transaction } from "./transaction.js";

const WORKSPACE_ID = "ws_default";
const role: RoleRecord = {
  id: "role_1",
  workspaceId: WORKSPACE_ID,
  name: "anchor",
  description: null,
  permissions: [],
  createdAt: 1,
  version: 1,
};

/** Counts in the API like another process. */
function changeElsewhere(store: TestStore): void {
  const version = (store.get(API)?.record.version ?? 0) + 1;
  store.put(apiType, { ...api, createdAt: api.createdAt + countIn(store) + 1, version });
}

describe("what was read", () => {
  test("is expected at its version by the commit", async () => {
    const { store, transact } = setUp();
    await transact(WORKSPACE_ID, increment);
    expect(store.changes[0]?.expects).toMatchObject([{ ...API, version: 1 }]);
  });

  test.each([
    { expects: "version", version: 1 },
    { expects: "exists", version: "exists" },
  ] as const)(
    "and wanted with $expects is expected with $version",
    async ({ expects, version }) => {
      const { store, transact } = setUp();
      await transact(WORKSPACE_ID, async (transaction) => {
        await transaction.readOne({ ...API, expects });
        transaction.renewRevision();
      });
      expect(store.changes[0]?.expects).toMatchObject([{ ...API, version }]);
    },
  );

  test("and wanted with nothing, or not found, is not expected", async () => {
    const { store, transact } = setUp();
    await transact(WORKSPACE_ID, async (transaction) => {
      await transaction.readOne({ ...API, expects: "nothing" });
      expect(await transaction.readOne({ kind: "api", id: "api_2" })).toBeNull();
      transaction.renewRevision();
    });
    expect(store.changes[0]?.expects).toEqual([]);
  });

  test("is one snapshot: records wanted together are read together, with their revision", async () => {
    const { store, transact } = setUp();
    store.revision = 7;
    await transact(WORKSPACE_ID, async (transaction) => {
      expect(transaction.revision).toBe(0);
      const found = await transaction.read([API, { kind: "api", id: "api_2" }]);
      expect(found.map((loaded) => loaded?.record.id ?? null)).toEqual(["api_1", null]);
      expect(transaction.revision).toBe(7);
    });
    expect(store.reads).toHaveLength(1);
  });
});

describe("an operation", () => {
  test("that writes nothing commits its reads, so that what it found is durable when it resolves", async () => {
    const { store, transact } = setUp();
    const { answer, usages } = await transact(WORKSPACE_ID, async (transaction) => {
      await transaction.readOne(API);
      return "read";
    });
    expect({ answer, usages }).toEqual({ answer: "read", usages: [] });
    const expects = [{ ...API, version: 1, handle: undefined }];
    expect(store.changes).toEqual([{ ...EMPTY_CHANGE, expects }]);
  });

  test("that writes nothing runs again if its reads have changed meanwhile", async () => {
    const { store, transact } = setUp();
    let runs = 0;
    await transact(WORKSPACE_ID, async (transaction) => {
      await transaction.readOne(API);
      runs += 1;
      if (runs === 1) changeElsewhere(store);
    });
    expect(runs).toBe(2);
  });

  test("that finds nothing to delete makes that durable before it returns it", async () => {
    const { store, transact } = setUp();
    const deleting = transact(WORKSPACE_ID, async (transaction) => {
      transaction.deleteAddress(API, [], []);
      throw new LatchkeyError("NOT_FOUND", "no such key");
    });
    await expect(deleting).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(store.changes).toEqual([EMPTY_CHANGE]);
  });

  test("that finds nothing reads again if the record is back by then, as after a failover that lost its deletion", async () => {
    const { store } = setUp();
    let looks = 0;
    const read: KeyStore["read"] = async (workspaceId, wants) => {
      looks += 1;
      const answer = await store.read(workspaceId, wants);
      return looks === 1 ? { ...answer, found: wants.map(() => null) } : answer;
    };
    const transact = createTransact({ read, commit: store.commit.bind(store) }, createRandomPool());
    const { answer } = await transact(WORKSPACE_ID, async (transaction) => {
      const found = await transaction.readOne(API);
      if (found === null) throw new LatchkeyError("NOT_FOUND", "no such API");
      return found.record.id;
    });
    expect([answer, looks]).toEqual([API.id, 2]);
  });

  test("that finds nothing reports an unknown outcome if that could not be made durable", async () => {
    const { store } = setUp();
    const commit = async () => {
      throw new LatchkeyError("STORE_UNAVAILABLE", "no replica", { outcome: "unknown" });
    };
    const transact = createTransact({ read: store.read.bind(store), commit }, createRandomPool());
    for (const work of [
      async () => undefined,
      async () => {
        throw new LatchkeyError("NOT_FOUND", "no such key");
      },
    ])
      await expect(transact(WORKSPACE_ID, work)).rejects.toMatchObject({ outcome: "unknown" });
  });

  test.each<[string, (transaction: Transaction) => void]>([
    ["a put", (transaction) => transaction.insert(roleType, role)],
    ["a delete", (transaction) => transaction.deleteAddress(API, [], [])],
    ["windows to forget", (transaction) => transaction.dropWindows(["w"])],
    ["another revision", (transaction) => transaction.renewRevision()],
  ])("with %s commits once", async (_, write) => {
    const { store, transact } = setUp();
    await transact(WORKSPACE_ID, async (transaction) => write(transaction));
    expect(store.changes).toHaveLength(1);
  });

  test("that throws writes nothing and is not run again", async () => {
    const { store, transact } = setUp();
    let runs = 0;
    const failing = transact(WORKSPACE_ID, async (transaction) => {
      runs += 1;
      transaction.renewRevision();
      throw new Error("refused");
    });
    await expect(failing).rejects.toThrow("refused");
    expect([runs, store.changes.length]).toEqual([1, 0]);
  });
});

test("a refusal of counters that the change does not name is damage", async () => {
  const { store } = setUp();
  const commit: KeyStore["commit"] = async () => {
    return { kind: "refused", index: 1, reason: { kind: "unlimited" } };
  };
  const transact = createTransact({ read: store.read.bind(store), commit }, createRandomPool());
  const operation = { kind: "increment", by: 1 } as const;
  const usage = { due: null, operation, restartsAt: null };
  const refused = transact(WORKSPACE_ID, async (transaction) =>
    transaction.changeCounters({ ...API, usage }, () => new Error("refused")),
  );
  await expect(refused).rejects.toMatchObject({ code: "STORE_CORRUPT" });
});

describe("what is written", () => {
  test("of a new record claims its names and enters its lists", async () => {
    const { store, transact } = setUp();
    const key = keyWith({ identityId: "id_1" });
    await transact(WORKSPACE_ID, async (transaction) =>
      transaction.insert(keyType, key, { counters: { usage: usageOf(3) } }),
    );
    expect(store.changes[0]).toMatchObject({
      puts: [{ record: keyType.encode(key), counters: { usage: usageOf(3) } }],
      claims: [{ kind: "key", index: "hash", value: "hash_1", id: "key_1" }],
      enters: [
        { list: "keys:api_1", id: "key_1" },
        { list: "keys:api_1", of: "id_1", id: "key_1" },
      ],
    });
  });

  test("of a record that changes leaves its former lists, and enters its new ones", async () => {
    const { store, transact } = setUp();
    const before = keyWith({ identityId: "id_1" });
    await transact(WORKSPACE_ID, async (transaction) =>
      transaction.update(keyType, before, { ...before, identityId: "id_2" }),
    );
    expect(store.changes[0]).toMatchObject({
      claims: [],
      releases: [],
      enters: [{ list: "keys:api_1", of: "id_2", id: "key_1" }],
      leaves: [{ list: "keys:api_1", of: "id_1", id: "key_1" }],
    });
  });

  test("of a record that is deleted frees its names and leaves its lists", async () => {
    const { store, transact } = setUp();
    const key = keyWith({ identityId: "id_1" });
    await transact(WORKSPACE_ID, async (transaction) => transaction.delete(keyType, key));
    expect(store.changes[0]).toMatchObject({
      deletes: [{ kind: "key", id: "key_1" }],
      releases: [{ kind: "key", index: "hash", value: "hash_1", id: "key_1" }],
      leaves: [
        { list: "keys:api_1", id: "key_1" },
        { list: "keys:api_1", of: "id_1", id: "key_1" },
      ],
    });
  });

  test("of a record that cannot be read keeps its content", async () => {
    const { store, transact } = setUp();
    const record = { ...apiType.encode(api), body: "damaged", version: 9 };
    await transact(WORKSPACE_ID, async (transaction) => transaction.putAnew(record));
    const stored = store.get(API)?.record;
    expect(stored).toEqual({ ...record, version: stored?.version });
    expect(stored?.version).not.toBe(9);
  });
});

describe("the version of a record and the revision", () => {
  const writeAnew = async (transaction: Transaction): Promise<void> => {
    await increment(transaction);
    transaction.renewRevision();
  };

  test("are never those of an earlier state, even after the store went back to it", async () => {
    const { store, transact } = setUp();
    const before = store.get(API) as LoadedRecord;
    const seen = new Set([`0 ${before.record.version}`]);
    for (let round = 0; round < 50; round += 1) {
      await transact(WORKSPACE_ID, writeAnew);
      seen.add(`${store.revision} ${store.get(API)?.record.version}`);
      store.put(apiType, api);
      store.revision = 0;
    }
    expect(seen.size).toBe(51);
  });

  test("stay the same if a change says that no process relies on it", async () => {
    const { store, transact } = setUp();
    const after = { ...api, createdAt: 9 };
    await transact(WORKSPACE_ID, async (transaction) =>
      transaction.update(apiType, api, after, true),
    );
    expect(store.get(API)?.record).toEqual(apiType.encode(after));
    expect(store.revision).toBe(0);
  });
});

describe("what changed meanwhile", () => {
  test("makes the operation run again on fresh reads, and says so", async () => {
    const { store, transact } = setUp();
    const seen: [number, boolean][] = [];
    await transact(WORKSPACE_ID, async (transaction) => {
      const count = await increment(transaction);
      seen.push([count - api.createdAt, transaction.isRetry]);
      if (seen.length === 1) changeElsewhere(store);
    });
    expect(seen).toEqual([
      [0, false],
      [1, true],
    ]);
    expect(countIn(store)).toBe(2);
  });

  test("is ignored if only existence was wanted, unless the record is gone", async () => {
    const { store, transact } = setUp();
    let runs = 0;
    await transact(WORKSPACE_ID, async (transaction) => {
      runs += 1;
      const found = await transaction.readOne({ ...API, expects: "exists" });
      if (runs === 1) changeElsewhere(store);
      if (runs === 2) store.remove(API);
      if (found !== null) transaction.renewRevision();
      if (runs === 1) throw new StaleReadError();
      return found;
    });
    expect(runs).toBe(3);
    expect(store.revision).toBe(0);
  });

  test("is found by the operation itself: it asks for another attempt, without a commit", async () => {
    const { store, transact } = setUp();
    let runs = 0;
    const { answer } = await transact(WORKSPACE_ID, async (transaction) => {
      runs += 1;
      transaction.renewRevision();
      if (runs < 3) throw new StaleReadError();
      return runs;
    });
    expect(answer).toBe(3);
    expect(store.changes).toHaveLength(1);
  });

  test.each([
    { moves: 98, outcome: "written" },
    { moves: 99, outcome: "written" },
    { moves: 100, outcome: "not-applied" },
  ])("$moves times in a row: $outcome", async ({ moves, outcome }) => {
    const { store, transact } = setUp();
    let runs = 0;
    const result = transact(WORKSPACE_ID, async (transaction) => {
      await increment(transaction);
      if (runs < moves) changeElsewhere(store);
      runs += 1;
    });
    if (outcome === "written") {
      await result;
      expect(runs).toBe(moves + 1);
    } else {
      await expect(result).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", outcome });
      expect(runs).toBe(100);
    }
    expect(countIn(store)).toBe(moves + (outcome === "written" ? 1 : 0));
  });
});

describe("a name that another record has", () => {
  const other = { ...role, id: "role_2" };

  test("is the error that the operation gives for it", async () => {
    const { store, transact } = setUp();
    store.put(roleType, role);
    let runs = 0;
    const inserting = transact(WORKSPACE_ID, async (transaction) => {
      runs += 1;
      transaction.insert(roleType, other, { onTaken: () => new Error("name taken") });
    });
    await expect(inserting).rejects.toThrow("name taken");
    expect(runs).toBe(1);
  });

  test("gives the error of its own record, among several", async () => {
    const { store, transact } = setUp();
    store.put(roleType, role);
    const inserting = transact(WORKSPACE_ID, async (transaction) => {
      const free = { ...role, id: "role_3", name: "deck" };
      transaction.insert(roleType, free, { onTaken: () => new Error("deck") });
      transaction.insert(roleType, other, { onTaken: () => new Error("anchor") });
    });
    await expect(inserting).rejects.toThrow("anchor");
    expect(store.get({ kind: "role", id: "role_3" })).toBeNull();
  });

  test("makes the operation run again and find the holder, if it names no error", async () => {
    const { store, transact } = setUp();
    const { answer } = await transact(WORKSPACE_ID, async (transaction) => {
      const holder = await transaction.readOne({ kind: "role", index: "name", value: "anchor" });
      if (holder !== null) return holder.record.id;
      // Another process creates it between the read and the commit.
      store.put(roleType, role);
      transaction.insert(roleType, other);
      return other.id;
    });
    expect(answer).toBe("role_1");
    expect(store.get({ kind: "role", id: "role_2" })).toBeNull();
  });
});
