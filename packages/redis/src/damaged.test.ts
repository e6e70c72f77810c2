import { aChange, aRecord, at, NOW, WORKSPACE } from "@latchkey/conformance";
import { type KeyStore, type RecordAddress, STATISTICS_SPAN_MS } from "@latchkey/core";
import type { Redis } from "ioredis";
import { beforeAll, expect, test } from "vitest";
import { Names } from "./engine/names.js";
import { READS, WRITES } from "./testing/calls.js";
import { type Dump, dump, putBack } from "./testing/dump.js";
import { fill, type Keys } from "./testing/one-of-everything.js";
import { openOwnStore } from "./testing/own-store.js";
import { describeWithServers } from "./testing/where.js";

const ROOT = `lk:{${WORKSPACE}}:`;
const homeOf = (record: RecordAddress) => new Names("lk", WORKSPACE).recordsOf(record);
const ALONE = at("key", 3);
const CALLS = new Map([...READS, ...WRITES]);

const EVERY_KEY = { kind: "key", list: "keys", after: null, limit: 9 } as const;

/** Texts that latchkey cannot have written. */
const COUNTERS = ["NaN 0 - 1", "-5 0 - 1", "5", "", "9007199254740992 0 - 1", "1e3 0 - 1"];
const WINDOWS = [" own=x:1", " own=1:-1", " own=1", " own=9007199254740992:1"];

describeWithServers("damaged data beside the bodies of records", () => {
  let control: Redis;
  let store: KeyStore;
  let keys: Keys;
  let whole: Dump;

  beforeAll(async () => {
    const own = await openOwnStore();
    ({ control, store } = own);
    keys = await fill(store);
    whole = await dump(control);
    return own.close;
  });

  const damageCounters = (record: RecordAddress, text: string) =>
    control.hset(homeOf(record), record.id, `1 ${at("identity").id} ${text}`);

  /** Restores the store, damages it, and expects these calls to be refused with nothing written. */
  async function expectRefusals(damage: () => Promise<unknown>, ...titles: readonly string[]) {
    await putBack(control, whole);
    await damage();
    const before = await dump(control);
    for (const title of titles) {
      const call = CALLS.get(title);
      if (call === undefined) throw new Error(`no call ${title}`);
      await expect(call(store, keys), title).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      expect(await dump(control), title).toEqual(before);
    }
    await putBack(control, whole);
  }

  /** Restores the store, damages it, and returns the keys that are read and listed without a body. None is left out. */
  async function unreadableAfter(damage: () => Promise<unknown>) {
    await putBack(control, whole);
    await damage();
    const addresses = [1, 2, 3].map((n) => at("key", n));
    const { found: read } = await store.read(WORKSPACE, addresses);
    const { found: page } = await store.page(WORKSPACE, EVERY_KEY);
    await putBack(control, whole);
    expect(page).toEqual(read);
    expect(read.map((loaded) => loaded?.record.id)).toEqual(addresses.map(({ id }) => id));
    return addresses.filter((_, index) => read[index]?.record.body === undefined);
  }

  test.each(COUNTERS)(
    "counters of a key that are %j are not used, and hide no key",
    async (text) => {
      const damage = () => damageCounters(ALONE, text);
      await expectRefusals(damage, "charge", "commit over a key");
      expect(await unreadableAfter(damage)).toEqual([at("key", 3)]);
    },
  );

  test.each(COUNTERS)(
    "counters that keys share that are %j are not used, and hide no key",
    async (text) => {
      const damage = () => control.hset(`${ROOT}w`, `${at("key").id} u`, `  ${text}`);
      await expectRefusals(damage, "charge shared counters");
      expect(await unreadableAfter(damage)).toEqual([at("key", 1), at("key", 2)]);
    },
  );

  test.each(COUNTERS)(
    "counters of an identity that are %j are not shown, and hide no key",
    async (text) => {
      await putBack(control, whole);
      await damageCounters(at("identity"), text);
      const { found } = await store.read(WORKSPACE, [at("identity"), at("key")]);
      expect(found[0]?.record.body).toBeUndefined();
      expect(found[1]?.linked).toEqual({ ...found[0], linked: undefined });
      expect(found[1]?.record.body).toBeDefined();
      await putBack(control, whole);
    },
  );

  test.each(["three words here", "line\nfeed", " "])(
    "a link that is %j hides no key",
    async (text) => {
      expect(
        await unreadableAfter(() => control.hset(homeOf(ALONE), ALONE.id, `1 ${text} 9 0 - 1`)),
      ).toEqual([at("key", 3)]);
    },
  );

  test.each(WINDOWS)("a window%s admits nobody", async (text) => {
    const damage = () => damageCounters(ALONE, `9 ${NOW} - 1${text}`);
    await expectRefusals(damage, "charge");
  });

  test.each(["1", "x:1", "1:x", "", "1:-1"])(
    "a window without an owner that is %j admits nobody",
    async (text) => {
      await expectRefusals(() => control.set(`${ROOT}p:free`, text), "charge");
    },
  );

  test("a remembered result that cannot be read is not repeated", async () => {
    const [name] = await control.keys(`${ROOT}q:*${at("key", 3).id}*`);
    for (const text of [
      "",
      "x",
      "question-1\nx\ncharged 1\n[]",
      `question-1\n${NOW + 9}\ncharged 1\n{`,
    ])
      await expectRefusals(() => control.set(name ?? "", text), "charge again");
  });

  test("while the revision is not a number nothing is read, until a change brings another", async () => {
    const damage = () => control.hset(`${ROOT}w`, "revision", "one");
    await expectRefusals(damage, "read by id", "page");
    await control.hset(`${ROOT}w`, "revision", "one");
    expect(await CALLS.get("charge")?.(store, keys)).toEqual({ kind: "stale", moved: "revision" });
    expect(await CALLS.get("commit a new key")?.(store, keys)).toMatchObject({ kind: "committed" });
    expect(await store.read(WORKSPACE, [])).toMatchObject({ revision: 2 });
    await putBack(control, whole);
  });

  test("sums and latest uses that are not numbers are not added to", async () => {
    const [name = ""] = await control.keys(`${ROOT}v:*`);
    const [day = ""] = await control.hkeys(name);
    const hour = Math.floor(NOW / STATISTICS_SPAN_MS);
    for (const sums of ["x", " x", ` ${hour}:VALID=`, ` ${hour}:VALID=1 x`])
      await expectRefusals(() => control.hset(name, day, sums), "addStatistics", "readStatistics");
    const tooMany = ` ${hour}:VALID=${Number.MAX_SAFE_INTEGER + 1}`;
    await expectRefusals(() => control.hset(name, day, tooMany), "addStatistics", "readStatistics");
    await expectRefusals(() => control.hset(name, day, ` ${hour}:NEVER=1`), "readStatistics");
    const used = () => control.hset(homeOf(at("key")), `${at("key").id} t`, "x");
    await expectRefusals(used, "addStatistics");
    expect(await unreadableAfter(used)).toEqual([]);
  });

  test("a key whose version is garbage is listed and read without it, cannot be charged, and can be deleted", async () => {
    await putBack(control, whole);
    const { id } = ALONE;
    await control.hset(homeOf(ALONE), id, "garbage");
    const { found } = await store.read(WORKSPACE, [ALONE]);
    const unreadable = { kind: "key", id, version: 0, link: null, body: undefined };
    expect(found[0]?.record).toEqual(unreadable);
    const page = await store.page(WORKSPACE, { kind: "key", list: "keys", after: null, limit: 9 });
    expect(page.found.map(({ record }) => record.id)).toEqual(
      [1, 2, 3].map((n) => at("key", n).id),
    );
    expect(await CALLS.get("charge")?.(store, keys)).toEqual({ kind: "stale", moved: 0 });
    const expects = [{ ...at("key", 3), version: "exists" as const }];
    const deletion = aChange({ expects, deletes: [at("key", 3)] });
    expect(await store.commit(WORKSPACE, deletion)).toMatchObject({ kind: "committed" });
    expect((await store.read(WORKSPACE, [at("key", 3)])).found).toEqual([null]);
    await putBack(control, whole);
  });

  test("a key with damaged counters can be deleted, and its shared ones stay for the other", async () => {
    await putBack(control, whole);
    await control.hset(`${ROOT}w`, `${at("key").id} u`, "garbage");
    const deletes = [at("key", 1)];
    expect(await store.commit(WORKSPACE, aChange({ deletes }))).toMatchObject({
      kind: "committed",
    });
    expect(await control.hget(`${ROOT}w`, `${at("key").id} u`)).toBe("garbage");
    expect((await store.read(WORKSPACE, [aRecord("key")])).found).toEqual([null]);
    await putBack(control, whole);
  });
});
