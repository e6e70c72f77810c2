import { aChange, aPlan, aRecord, at, NOW, usesOf, WORKSPACE } from "@latchkey/conformance";
import type { Change, KeyStore, LoadedRecord, StoredRecord } from "@latchkey/core";
import type { Redis } from "ioredis";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { openOwnStore } from "./testing/own-store.js";
import { describeWithServers } from "./testing/where.js";

const nameOf = (value: string) => ({ kind: "key", index: "hash", value }) as const;
const MOMENT = { now: NOW, refill: null };
const [ONE, TWO] = [aRecord("key", 1), aRecord("key", 2)];

describeWithServers("the name of a key", () => {
  let control: Redis;
  let store: KeyStore;

  beforeAll(async () => {
    const own = await openOwnStore();
    ({ control, store } = own);
    return own.close;
  });
  beforeEach(() => control.flushall());

  const commit = async (change: Partial<Change>) =>
    expect(await store.commit(WORKSPACE, aChange(change))).toMatchObject({ kind: "committed" });
  const create = (record: StoredRecord, value: string) =>
    commit({
      expects: [{ kind: "key", id: record.id, version: null }],
      puts: [{ record, counters: { usage: usesOf(5) } }],
      claims: [{ ...nameOf(value), id: record.id }],
    });
  const find = async (value: string): Promise<LoadedRecord | null> =>
    (await store.read(WORKSPACE, [nameOf(value)])).found[0] ?? null;

  test("holds while it is given up and taken again in one change", async () => {
    await create(ONE, "a");
    const own = { ...nameOf("a"), id: ONE.id };
    await commit({ releases: [own], claims: [own] });
    expect((await find("a"))?.record).toEqual(ONE);
  });

  test("can be given up and taken by another key, and the first stays", async () => {
    await create(ONE, "a");
    await commit({ releases: [{ ...nameOf("a"), id: ONE.id }] });
    expect(await find("a")).toBeNull();
    await create(TWO, "a");
    expect((await find("a"))?.record).toEqual(TWO);
    expect((await store.read(WORKSPACE, [ONE, TWO])).found.map((each) => each?.record)).toEqual([
      ONE,
      TWO,
    ]);
    await commit({ deletes: [ONE] });
    expect((await find("a"))?.record).toEqual(TWO);
  });

  test("may be one of several: all of them lead to the key, and are free when it is gone", async () => {
    await create(ONE, "a");
    await commit({ claims: [{ ...nameOf("b"), id: ONE.id }] });
    for (const value of ["a", "b"]) expect((await find(value))?.record).toEqual(ONE);
    await commit({ deletes: [ONE] });
    for (const value of ["a", "b"]) expect(await find(value)).toBeNull();
    await create(TWO, "b");
    expect((await find("b"))?.record).toEqual(TWO);
  });

  test("leads to counters that become shared while a plan rests on them", async () => {
    await create(ONE, "a");
    const plan = aPlan({ confirms: [{ ...at("key"), version: 1 }] });
    expect(await store.charge(plan, MOMENT)).toMatchObject({ remaining: 4 });
    await commit({ puts: [{ record: TWO, counters: { sharedWith: ONE.id } }] });
    expect(await store.charge(plan, MOMENT)).toMatchObject({ kind: "charged", remaining: 3 });
    await commit({ puts: [{ record: ONE, counters: { usage: usesOf(9) } }] });
    expect(await store.charge(plan, MOMENT)).toMatchObject({ kind: "charged", remaining: 8 });
    expect((await store.read(WORKSPACE, [TWO])).found[0]?.usage).toEqual(usesOf(3));
  });
});
