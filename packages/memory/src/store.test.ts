import { aChange, aPlan, aRecord, describeKeyStore, NOW, usesOf } from "@latchkey/conformance";
import type { Change, KeyStore } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { memoryStore } from "./index.js";

describeKeyStore("memory", memoryStore);

/** The changes that filled a rewindable store, and the memory store that they were last made in. */
const histories = new WeakMap<KeyStore, { changes: [string, Change][]; current: KeyStore }>();

/** A store that can go back to an earlier state, which a memory store itself never does. */
function rewindableStore(): KeyStore {
  const history = { changes: [] as [string, Change][], current: memoryStore() };
  const store: KeyStore = {
    ...history.current,
    read: (...given) => history.current.read(...given),
    page: (...given) => history.current.page(...given),
    charge: (...given) => history.current.charge(...given),
    commit: (...given) => {
      history.changes.push(given);
      return history.current.commit(...given);
    },
  };
  histories.set(store, history);
  return store;
}

describeKeyStore("memory that goes back", rewindableStore, {
  saveState: async (store) => {
    const history = histories.get(store) as NonNullable<ReturnType<typeof histories.get>>;
    const saved = [...history.changes];
    return async () => {
      history.current = memoryStore();
      for (const change of saved) await history.current.commit(...change);
    };
  },
  shareOfSequences: 0.01,
});

describe("memory", () => {
  test("a charge is answered at once, without a promise", async () => {
    const store = memoryStore();
    const puts = [{ record: aRecord("key"), counters: { usage: usesOf(5) } }];
    await store.commit("ws_default", aChange({ puts }));
    expect(store.charge(aPlan(), { now: NOW, refill: null })).toEqual({
      kind: "charged",
      remaining: 4,
      limits: [],
    });
  });

  test("a frozen body is stored and returned as the same object", async () => {
    const store = memoryStore();
    const body = Object.freeze({ name: "a" });
    await store.commit("ws_default", aChange({ puts: [{ record: aRecord("key", 1, { body }) }] }));
    const { found } = await store.read("ws_default", [aRecord("key")]);
    expect(found[0]?.record.body).toBe(body);
  });

  test("a body that is not frozen gets frozen throughout", async () => {
    const store = memoryStore();
    const body = { nested: { list: [{ name: "a" }] } };
    const record = { ...aRecord("key"), body };
    await store.commit("ws_default", aChange({ puts: [{ record }] }));
    expect(() => body.nested.list.push({ name: "b" })).toThrow(TypeError);
    const [first] = body.nested.list;
    expect([first, body.nested, body].every(Object.isFrozen)).toBe(true);
  });

  test("a page has every record as last written, also one that an earlier page had", async () => {
    const store = memoryStore();
    const list = (kind: "key" | "api") =>
      store.page("ws_default", { kind, list: "few", after: null, limit: 9 });
    const put = async (version: number) => {
      const puts = ["a", "b", "c"].map((id) => ({ record: aRecord("key", 1, { id, version }) }));
      const enters = puts.map(({ record: { id } }) => ({ list: "few", id }));
      await store.commit("ws_default", aChange({ puts, enters: version === 1 ? enters : [] }));
    };
    const versions = async () => (await list("key")).found.map(({ record }) => record.version);
    await put(1);
    expect([await versions(), await versions()]).toEqual(Array(2).fill([1, 1, 1]));
    await put(2);
    expect([await versions(), await versions()]).toEqual(Array(2).fill([2, 2, 2]));
    await store.commit("ws_default", aChange({ deletes: [{ kind: "key", id: "b" }] }));
    expect(await versions()).toEqual([2, 2]);
    expect((await list("api")).found).toEqual([]);
  });

  test("a change to counters that a record lacks is a mistake of the caller, and writes nothing", async () => {
    const store = memoryStore();
    const record = aRecord("key");
    await store.commit("ws_default", aChange({ puts: [{ record }] }));
    const usage = {
      due: null,
      operation: { kind: "set", remaining: 1 },
      restartsAt: null,
    } as const;
    const change = aChange({
      deletes: [record],
      counters: [{ kind: "key", id: record.id, usage }],
    });
    await expect(store.commit("ws_default", change)).rejects.toThrow(TypeError);
    expect((await store.read("ws_default", [record])).found[0]).not.toBeNull();
  });
});
