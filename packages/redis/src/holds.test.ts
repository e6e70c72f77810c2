import {
  aChange,
  aLimit,
  aPlan,
  aRecord,
  at,
  commit,
  load,
  NOW,
  usesOf,
  WORKSPACE,
} from "@latchkey/conformance";
import {
  allHolds,
  createLatchkey,
  type HoldStep,
  type KeyStore,
  type Latchkey,
} from "@latchkey/core";
import type { Redis } from "ioredis";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Names } from "./engine/names.js";
import { redisStore } from "./index.js";
import { untilAnswered } from "./testing/errors.js";
import { openOwnStore } from "./testing/own-store.js";
import { PATIENT, startServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const names = new Names("lk", WORKSPACE);
const MINUTE_MS = 60_000;
const HOLD = { keeps: "all", ttl: MINUTE_MS, slotTtl: null, most: [9] } as const;
const CORRUPT = { code: "STORE_CORRUPT" };

describeWithServers("holds in Redis", () => {
  let control: Redis;
  let store: KeyStore;
  let latchkey: Latchkey;

  beforeAll(async () => {
    const own = await openOwnStore();
    ({ control, store } = own);
    latchkey = createLatchkey({ store, workspaceId: WORKSPACE });
    return own.close;
  });
  beforeEach(() => control.flushall());

  const held = () => control.hgetall(names.holds);
  const ends = () => control.zrange(names.holdEnds, "0", "-1");
  const settle = (step: HoldStep, now = NOW) =>
    store.settle(WORKSPACE, step, { now, revision: null });
  const release = (id: string, now = NOW) =>
    settle({ kind: "end", id, uses: 0, limits: [], rest: false }, now);
  /** Holds uses of a key, and units of its one limit. */
  const reserve = (id: string, number = 1, cost = 3, fields = {}) =>
    store.charge(
      aPlan({
        confirms: [{ ...at("key", number), version: "exists" }],
        hold: HOLD,
        cost,
        limits: [aLimit({ window: "60000:default", cost })],
        ...fields,
      }),
      { now: NOW, refill: null, holdId: id },
    );
  const put = (number: number, counters: object) =>
    commit(store, { puts: [{ record: aRecord("key", number), counters }] as never });
  const usesLeft = async (number: number) =>
    (await load(store, at("key", number))).usage?.remaining;

  async function issueKey() {
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const ratelimit = { limit: 10, duration: MINUTE_MS };
    return latchkey.createKey({ apiId, remaining: 10, ratelimit, externalId: "user" });
  }

  async function reservationOf(key: string, cost = 3): Promise<string> {
    const verdict = await latchkey.reserve({ key, remaining: { cost } });
    if (!verdict.valid) throw new Error(verdict.code);
    return verdict.reservationId;
  }

  describe("when counters move", () => {
    test("a rotation takes the hold along, and the deletion of the first key leaves it to the next", async () => {
      const first = await issueKey();
      const reservations = [await reservationOf(first.key), await reservationOf(first.key, 1)];
      const next = await latchkey.rotateKey({ keyId: first.keyId, graceMs: MINUTE_MS });
      reservations.push(await reservationOf(next.key, 2));
      const cost = (index: number) => ({
        reservationId: reservations[index] ?? "",
        remaining: { cost: 1 },
      });
      expect(await latchkey.settle(cost(0))).toMatchObject({ remaining: 6 });
      await latchkey.deleteKey({ keyId: first.keyId });
      const { reservations: open } = await latchkey.listReservations({ keyId: next.keyId });
      expect(open.map(({ reservationId }) => reservationId)).toEqual(reservations.slice(1));
      expect(await latchkey.settle(cost(1))).toMatchObject({ remaining: 6 });
      expect(await latchkey.settle(cost(2))).toMatchObject({ remaining: 7 });
      expect(await held()).toEqual({});
      expect(await ends()).toEqual([]);
    });

    test("the hold stays with the counters that it took from, whatever is written under the id of the first key", async () => {
      await put(1, { usage: usesOf(10) });
      await reserve("rsv_a");
      await reserve("rsv_b");
      await put(2, { sharedWith: at("key").id });
      await commit(store, { deletes: [at("key")] });
      await put(1, { usage: usesOf(5) });
      await reserve("rsv_c");
      expect(await release("rsv_a")).toMatchObject({ kind: "ended", usage: { remaining: 7 } });
      // The first key gets counters of its own, and the others keep the old ones.
      await put(3, { sharedWith: at("key").id });
      await put(1, { usage: usesOf(1) });
      expect(await release("rsv_c")).toMatchObject({ kind: "ended", usage: { remaining: 5 } });
      expect(await release("rsv_b")).toMatchObject({ kind: "ended", usage: { remaining: 10 } });
      expect([await usesLeft(1), await usesLeft(2), await usesLeft(3)]).toEqual([1, 10, 5]);
      expect([await held(), await ends()]).toEqual([{}, []]);
    });

    test("the hold is deleted with its counters when the key gets another's or new ones, or the last key is deleted", async () => {
      await put(2, { usage: usesOf(9) });
      for (const change of [
        { puts: [{ record: aRecord("key"), counters: { sharedWith: at("key", 2).id } }] },
        { puts: [{ record: aRecord("key"), counters: { usage: usesOf(4) } }] },
        { deletes: [at("key")] },
      ]) {
        await put(1, { usage: usesOf(10) });
        await reserve("rsv_a");
        await commit(store, aChange(change));
        expect(await release("rsv_a")).toEqual({ kind: "unknown" });
        expect([await held(), await ends()]).toEqual([{}, []]);
      }
    });

    test("the hold of a deleted key stays beside the identity until it expires, and then leaves nothing", async () => {
      await put(1, { usage: usesOf(10) });
      const identity = { record: aRecord("identity"), counters: { usage: usesOf(20) } };
      await commit(store, aChange({ puts: [identity] }));
      const confirms = [
        { ...at("key"), version: "exists" },
        { ...at("identity"), version: "exists" },
      ];
      const hold = { ...HOLD, most: [9, 9] };
      await reserve("rsv_a", 1, 3, { confirms, hold, uses: 1, limits: [] });
      await commit(store, { deletes: [at("key")] });
      expect(await release("rsv_a")).toEqual({ kind: "unknown" });
      expect(await ends()).toHaveLength(1);
      const refresh = { kind: "refresh", of: at("identity"), refill: null } as const;
      expect(await settle(refresh, NOW + MINUTE_MS)).toMatchObject({
        expired: [{ id: "rsv_a" }],
        hasMore: false,
      });
      expect((await load(store, at("identity"))).usage).toEqual(usesOf(20));
      expect([await held(), await ends()]).toEqual([{}, []]);
    });
  });

  describe("when they are damaged", () => {
    const counters = () => control.hget(names.recordsOf(at("key")), at("key").id);
    const write = (text: string) => control.hset(names.recordsOf(at("key")), at("key").id, text);
    const refresh = { kind: "refresh", of: at("key"), refill: null } as const;

    async function damageSums(sums: string) {
      await write(((await counters()) ?? "").replace(/ =.*$/, ` =${sums}`));
    }

    test.each([
      "",
      "1",
      "x/9;1;3;1;0;;",
      "1/",
      "1/x;1;3;1;0;;",
      "1/9;1;-3;1;0;;",
      "1/9007199254740992;1;3;1;0;;",
      "1/99999999999999999999999999;1;3;1;0;;",
    ])("sums that are %j are not used, and hide no key", async (sums) => {
      await put(1, { usage: usesOf(10) });
      await reserve("rsv_a");
      await damageSums(sums);
      const before = await counters();
      expect((await store.read(WORKSPACE, [at("key")])).found[0]?.record.body).toBeUndefined();
      for (const call of [
        () => reserve("rsv_b"),
        () => release("rsv_a"),
        () => settle(refresh),
        () => commit(store, { counters: [at("key")] }),
      ])
        await expect(call()).rejects.toMatchObject(CORRUPT);
      expect(await counters()).toBe(before);
      await commit(store, { deletes: [at("key")] });
    });

    test.each([
      "1/9;x;3;1;0;;",
      "1/99999999999999;1;3;y;0;;",
      "1/99999999999999;1;3;1;0;",
      "1/99999999999999;1;3;1;z;;",
    ])("sums that are %j take no hold and end none", async (sums) => {
      await put(1, { usage: usesOf(10) });
      await reserve("rsv_a");
      await damageSums(sums);
      await expect(reserve("rsv_b")).rejects.toMatchObject(CORRUPT);
      await expect(release("rsv_a")).rejects.toMatchObject(CORRUPT);
    });

    test.each([
      "1/99999999999999;1;3;1;0;1/x;",
      "1/99999999999999;1;3;1;0;1/2;",
      "1/99999999999999;1;3;1;0;;x+a|",
    ])("sums that are %j end no hold", async (sums) => {
      await put(1, { usage: usesOf(10) });
      await reserve("rsv_a");
      await damageSums(sums);
      await expect(release("rsv_a")).rejects.toMatchObject(CORRUPT);
      await expect(settle(refresh, NOW + MINUTE_MS)).rejects.toMatchObject(CORRUPT);
    });

    test.each([
      "",
      "garbage",
      "1 key_1 - 1 2",
      `1 key_1 - ${NOW} ${NOW + 9} 9 x 0 0`,
      `1 key_1 - ${NOW} ${NOW + 9} 9 3 0 `,
      `1 key_1 - ${NOW} ${NOW + 9} 9 3 0 0 0/60000:a=1`,
      `1 key_1 - ${NOW} ${NOW + 9} 9 3 0 0 0/60000:a=1:2:x`,
      `1 key_1 - ${NOW} ${NOW + 9} 9 3 0 0  0/60000:a=1:2:0`,
      `1 key_1 - ${NOW} 9007199254740992 9 3 0 0`,
      `key_1 - ${NOW} ${NOW + 9} 9 3 0 0`,
    ])("a hold that is %j is never ended, and goes with its key", async (text) => {
      await put(1, { usage: usesOf(10) });
      await reserve("rsv_a");
      await control.hset(names.holds, "rsv_a", text);
      const before = await counters();
      for (const step of [
        { kind: "end", id: "rsv_a", uses: null, limits: [], rest: true },
        { kind: "renew", id: "rsv_a", ttl: null },
      ] as const)
        await expect(settle(step)).rejects.toMatchObject(CORRUPT);
      await expect(settle(refresh, NOW + MINUTE_MS)).rejects.toMatchObject(CORRUPT);
      await expect(store.holds(WORKSPACE, at("key"), null, 9)).rejects.toMatchObject(CORRUPT);
      expect([await counters(), await control.hget(names.holds, "rsv_a")]).toEqual([before, text]);
      await commit(store, { deletes: [at("key")] });
      expect([await held(), await ends()]).toEqual([{}, []]);
    });

    test.each(["x", "1:x", "-1:2", "9007199254740992:1"])(
      "a window that is %j gets nothing back, and nothing is ended",
      async (state) => {
        await put(1, { usage: usesOf(10) });
        await reserve("rsv_a");
        const text = ((await counters()) ?? "").replace(/(?<=default=)\S+/, state);
        await write(text);
        await expect(release("rsv_a")).rejects.toMatchObject(CORRUPT);
        expect(await counters()).toBe(text);
      },
    );

    test.each(["", "x", "1 2", "1 2 3 - 4 5", `1 2 3 1 4 5 - garbage`])(
      "an end that was remembered as %j is not repeated",
      async (text) => {
        await put(1, { usage: usesOf(10) });
        await reserve("rsv_a");
        await release("rsv_a");
        await control.set(names.endOf("rsv_a"), text, "PX", MINUTE_MS);
        await expect(release("rsv_a")).rejects.toMatchObject(CORRUPT);
      },
    );

    test("an end whose hold was removed from outside is deleted when its time has passed", async () => {
      await put(1, { usage: usesOf(10) });
      await reserve("rsv_a");
      await control.hdel(names.holds, "rsv_a");
      const looked = aPlan({ mode: "peek" });
      const late = { now: NOW + MINUTE_MS, refill: null };
      expect(await store.charge(looked, late)).toEqual({ kind: "unsettled", record: 0 });
      expect(await settle(refresh, late.now)).toMatchObject({ expired: [], hasMore: false });
      expect(await store.charge(looked, late)).toMatchObject({ kind: "charged" });
      expect([await held(), await ends()]).toEqual([{}, []]);
    });

    test("a hold that is over and damaged keeps no other from being settled", async () => {
      await put(1, { usage: usesOf(10) });
      await reserve("rsv_a");
      await control.hset(names.holds, "rsv_a", "x");
      await reserve("rsv_b", 1, 2, { hold: { ...HOLD, ttl: 2 * MINUTE_MS } });
      const step = { kind: "end", id: "rsv_b", uses: 1, limits: [], rest: true } as const;
      const late = NOW + MINUTE_MS;
      await expect(settle(step, late)).rejects.toMatchObject(CORRUPT);
      const alone = await settle({ ...step, isAlone: true }, late);
      // How much the damaged one holds is unknown.
      expect(alone).toMatchObject({ kind: "ended", usage: { remaining: 6 } });
    });

    test("an end without an instant does not keep other holds from ending", async () => {
      await put(1, { usage: usesOf(10) });
      await reserve("rsv_a");
      const [entry = ""] = await ends();
      await control.zadd(names.holdEnds, 0, `${entry.split(" ")[0]} garbage`);
      const late = { now: NOW + MINUTE_MS, refill: null };
      expect(await settle(refresh, late.now)).toMatchObject({ expired: [{ id: "rsv_a" }] });
      expect(await store.charge(aPlan(), late)).toMatchObject({ kind: "charged", remaining: 9 });
      expect(await settle(refresh, late.now)).toMatchObject({ expired: [], hasMore: false });
    });

    test("while the last number given to counters is damaged, no counters get a name", async () => {
      await put(1, { usage: usesOf(10) });
      await control.hset(names.shared, "holds", "x");
      const before = await counters();
      await expect(reserve("rsv_a")).rejects.toMatchObject(CORRUPT);
      expect([await counters(), await held()]).toEqual([before, {}]);
    });
  });

  test("however many there are, their ids are listed once to read all, and one script reads at most a thousand", async () => {
    await put(1, { usage: usesOf(10) });
    await reserve("rsv_a");
    const [first] = await store.holds(WORKSPACE, at("key"), null, 1);
    const sums = (await load(store, at("key"))).usage?.holds ?? null;
    const holds = Array.from({ length: 2_500 }, (_, index) => ({
      ...(first as NonNullable<typeof first>),
      id: `rsv_${10_000 + index}`,
    }));
    await settle({ kind: "restore", of: at("key"), sums, holds });
    await control.config("RESETSTAT");
    expect(await allHolds(store, WORKSPACE, at("key"))).toEqual(holds);
    const stats = await control.info("commandstats");
    const callsOf = (name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1]);
    expect([callsOf("zrangebylex"), callsOf("evalsha")]).toEqual([1, 4]);
  });

  test("holds that are restored unchanged are not written again", async () => {
    await put(1, { usage: usesOf(10) });
    for (const id of ["rsv_a", "rsv_b", "rsv_c"]) await reserve(id);
    const holds = await store.holds(WORKSPACE, at("key"), null, 9);
    const sums = (await load(store, at("key"))).usage?.holds ?? null;
    const before = [await held(), await ends()];
    const [first, ...rest] = holds.map((hold) => ({ ...hold, limits: [...hold.limits] }));
    const changed = { ...(first as (typeof holds)[number]), expiresAt: NOW + 2 * MINUTE_MS };
    for (const [restored, rewritten] of [
      [holds, 0],
      [[changed, ...rest], 1],
      [holds, 1],
    ] as const) {
      await control.config("RESETSTAT");
      const step = { kind: "restore", of: at("key"), sums, holds: restored } as const;
      expect(await settle(step)).toEqual({ kind: "restored" });
      const removals = /cmdstat_zrem:calls=(\d+)/.exec(await control.info("commandstats"));
      expect(Number(removals?.[1] ?? 0)).toBe(rewritten);
      expect(await store.holds(WORKSPACE, at("key"), null, 9)).toEqual(restored);
    }
    expect([await held(), await ends()]).toEqual(before);
  });

  describe("when a server is killed", () => {
    test("an answered end is repeated as it was, and takes and gives nothing again", async () => {
      const own = await startServer({ appendfsync: "always" });
      const ownStore = redisStore(own.url, PATIENT);
      const ownLatchkey = createLatchkey({ store: ownStore });
      try {
        const { apiId } = await ownLatchkey.createApi({ name: "payments" });
        const { key, keyId } = await ownLatchkey.createKey({ apiId, remaining: 10 });
        const verdicts = [];
        for (const cost of [4, 5])
          verdicts.push(await ownLatchkey.reserve({ key, remaining: { cost } }));
        const [first = "", second = ""] = verdicts.map((each) =>
          each.valid ? each.reservationId : "",
        );
        const end = { reservationId: first, remaining: { cost: 1 } };
        const answer = await ownLatchkey.settle(end);
        await own.stop("SIGKILL");
        await own.start();
        for (let repeat = 0; repeat < 2; repeat += 1)
          expect(await untilAnswered(() => ownLatchkey.settle(end))).toEqual(answer);
        expect(await ownLatchkey.release({ reservationId: second })).toMatchObject({
          remaining: 9,
        });
        expect(await ownLatchkey.getKey({ keyId })).toMatchObject({ remaining: 9 });
      } finally {
        await ownStore.close();
        await own.remove();
      }
    });
  });
});
