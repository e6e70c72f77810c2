import { describe, expect, test } from "vitest";
import {
  allPages,
  counting,
  idsOf,
  makeKeys,
  openWithApis,
  rejectionOfList,
} from "../made-keys.js";
import { DAY_MS, describeOnMemory, HOUR_MS, NOON } from "../test-context.js";

describeOnMemory("finding keys", (open) => {
  const withApis = (...names: string[]) => openWithApis(open, ...names);

  describe("the cost of a page", () => {
    test("a page without filters reads only the keys that it shows", async () => {
      const { context, apiId, latchkey } = await withApis("tides");
      await makeKeys(latchkey, apiId, 40);
      const { counts, latchkey: counted } = counting(context);
      await counted.listKeys({ apiId, limit: 7 });
      expect(counts).toMatchObject({ keys: 7, pages: 1 });
    });

    test("a filter without matches reads 2,000 keys per page, each key once, and reports the number", async () => {
      const { context, apiId, latchkey } = await withApis("tides");
      await makeKeys(latchkey, apiId, 4_500);
      const { counts, latchkey: counted } = counting(context);
      const question = { apiId, nameContains: "gate", limit: 10 };
      expect(await allPages(counted, question)).toEqual({ ids: [], scanned: [2_000, 2_000, 500] });
      expect(counts.keys).toBe(4_500);
      expect(counts.pages).toBeLessThan(25);
      expect(counts.ofPage).toBeLessThanOrEqual(500);
    });

    test("a filter with few matches finds all of them, in short pages", async () => {
      const { apiId, latchkey } = await withApis("tides");
      const made: string[] = [];
      for (let part = 0; part < 3; part += 1) {
        made.push((await latchkey.createKey({ apiId, name: "North Gate" })).keyId);
        const { apiId: other } = await latchkey.createApi({ name: `filler ${part}` });
        await makeKeys(latchkey, other, 900);
      }
      const { ids, scanned } = await allPages(latchkey, { nameContains: "gate" });
      expect(ids).toEqual(made);
      for (const read of scanned) expect(read).toBeLessThanOrEqual(2_000);
    });

    test("no page follows if the rest of the keys read has no match", async () => {
      const { apiId, latchkey } = await withApis("tides");
      const { keyId } = await latchkey.createKey({ apiId, name: "gate" });
      await makeKeys(latchkey, apiId, 20);
      const page = await latchkey.listKeys({ apiId, nameContains: "gate", limit: 1 });
      expect(idsOf(page)).toEqual([keyId]);
      expect(page).not.toHaveProperty("cursor");
    });

    test("keys of many APIs come in the order of creation, and a page reads few more keys than it shows", async () => {
      const { context, apiIds, latchkey } = await withApis(
        ...Array.from({ length: 40 }, (_, at) => `api ${at}`),
      );
      const made: string[] = [];
      for (let round = 0; round < 6; round += 1)
        for (const apiId of apiIds.filter((_, at) => (at * 7 + round) % 3 === 0))
          made.push((await latchkey.createKey({ apiId })).keyId);
      const { counts, latchkey: counted } = counting(context);
      expect((await allPages(counted, { limit: 20 })).ids).toEqual(made);
      expect(counts.keys).toBeLessThan(10 * made.length);
      const desc = await allPages(counted, { limit: 20, order: "desc" });
      expect(desc.ids).toEqual(made.toReversed());
    });

    test("a filter reads keys that are spread over many APIs less than three times, in few steps", async () => {
      const names = Array.from({ length: 50 }, (_, at) => `api ${at}`);
      const { context, apiIds, latchkey } = await withApis(...names);
      for (let round = 0; round < 60; round += 1)
        await latchkey.createKeys(
          apiIds.map((apiId, at) => ({ apiId, plaintext: `spread-${round}-${at}-of-many-apis` })),
        );
      const { counts, latchkey: counted } = counting(context);
      for (const order of ["asc", "desc"] as const)
        expect((await allPages(counted, { nameContains: "gate", order })).ids).toEqual([]);
      expect(counts.keys).toBeLessThan(2 * 3 * 3_000);
      expect(counts.pages).toBeLessThan(2 * 700);
    });

    test("an API with only old keys does not slow down a page", async () => {
      const names = Array.from({ length: 100 }, (_, at) => `api ${at}`);
      const { context, apiIds, latchkey } = await withApis(...names);
      const old = await makeKeys(latchkey, apiIds[0] as string, 3_000);
      for (const apiId of apiIds.slice(1)) await latchkey.createKey({ apiId });
      const { counts, latchkey: counted } = counting(context);
      const first = await counted.listKeys({ nameContains: "gate" });
      expect(first).toMatchObject({ keys: [], scanned: 2_000 });
      expect(counts.keys).toBe(2_000);
      const second = await counted.listKeys({ nameContains: "gate", cursor: first.cursor });
      expect(second.cursor).toBeUndefined();
      expect(idsOf(await counted.listKeys({ limit: 100 }))).toEqual(old.slice(0, 100));
      expect(counts.atOnce).toBeLessThanOrEqual(50);
    });

    test("createdAfter does not read keys created before, and still finds imported ones", async () => {
      const { context, apiId, latchkey } = await withApis("tides");
      await makeKeys(latchkey, apiId, 700);
      context.advance(DAY_MS);
      const before = NOON + DAY_MS - 1;
      const imported = await makeKeys(latchkey, apiId, 2, { createdAt: before });
      const made = await makeKeys(latchkey, apiId, 3);
      const { counts, latchkey: counted } = counting(context);
      for (const order of ["asc", "desc"] as const) {
        const found = async (createdAfter: number) =>
          idsOf(await counted.listKeys({ apiId, createdAfter, order })).sort();
        expect(await found(NOON + DAY_MS)).toEqual(made);
        expect(await found(before)).toEqual([...imported, ...made]);
        expect(await found(NOON + DAY_MS + 1)).toEqual([]);
        expect(await found(8_640_000_000_000_000)).toEqual([]);
      }
      expect(counts.keys).toBeLessThan(500);
      const { ids } = await allPages(latchkey, { apiId, createdBefore: NOON + DAY_MS });
      expect(ids.slice(700)).toEqual(imported);
    });
  });

  describe("another order", () => {
    const places = [NOON + 3, undefined, NOON + 1, NOON + 3, undefined, NOON + 2];

    test("sorts by value, then by creation; a key that never expires comes last", async () => {
      const { apiId, latchkey } = await withApis("tides");
      const made: string[] = [];
      for (const expires of places) made.push((await latchkey.createKey({ apiId, expires })).keyId);
      const expected = [2, 5, 0, 3, 1, 4].map((at) => made[at]);
      for (const limit of [1, 2, 100]) {
        const asc = await allPages(latchkey, { apiId, orderBy: "expires", limit });
        expect(asc.ids).toEqual(expected);
        expect(new Set(asc.scanned)).toEqual(new Set([6]));
        const desc = await allPages(latchkey, { apiId, orderBy: "expires", order: "desc", limit });
        expect(desc.ids).toEqual(expected.toReversed());
      }
    });

    test("by last use has unused keys first, in all APIs of an owner", async () => {
      const { apiIds, latchkey, context } = await withApis("tides", "winds");
      const made: { keyId: string; key: string }[] = [];
      for (const apiId of [...apiIds, ...apiIds])
        made.push(await latchkey.createKey({ apiId, externalId: "pier-7" }));
      await latchkey.createKey({ apiId: apiIds[0] as string, externalId: "pier-8" });
      for (const at of [2, 1]) {
        context.advance(1_000);
        await latchkey.verifyKey({ key: made[at]?.key ?? "" });
      }
      await latchkey.getVerifications({ apiId: apiIds[0] as string, start: NOON, end: NOON + 1 });
      const expected = [0, 3, 2, 1].map((at) => made[at]?.keyId);
      const question = { externalId: "pier-7", orderBy: "lastUsedAt" } as const;
      expect(idsOf(await latchkey.listKeys(question))).toEqual(expected);
      expect((await allPages(latchkey, { ...question, limit: 1 })).ids).toEqual(expected);
    });

    test("accepts at most 2,000 keys of an API, whatever the filter", async () => {
      const { apiId, latchkey, context } = await withApis("tides");
      await makeKeys(latchkey, apiId, 2_000);
      const question = { apiId, orderBy: "expires", enabled: false } as const;
      expect(await latchkey.listKeys(question)).toEqual({ keys: [], scanned: 2_000 });
      const { keyId } = await latchkey.createKey({ apiId });
      const { counts, latchkey: counted } = counting(context);
      expect(await rejectionOfList(counted, question)).toMatchObject({
        code: "PRECONDITION_FAILED",
        reason: "too-many-keys",
        details: { limit: 2_000 },
      });
      expect(counts.keys).toBeLessThanOrEqual(2_001);
      // No step of the store may take long, because others wait for it.
      expect(counts.ofPage).toBeLessThanOrEqual(500);
      await latchkey.deleteKey({ keyId });
      expect(await latchkey.listKeys(question)).toMatchObject({ scanned: 2_000 });
    });

    test("accepts at most 2,000 keys of an owner, in all APIs together", async () => {
      const { apiIds, latchkey } = await withApis("tides", "winds");
      const externalId = "pier-7";
      for (const apiId of apiIds) {
        await makeKeys(latchkey, apiId, 1_000, { externalId });
      }
      const question = { externalId, orderBy: "lastUsedAt" } as const;
      expect(await latchkey.listKeys(question)).toMatchObject({ scanned: 2_000 });
      await latchkey.createKey({ apiId: apiIds[1] as string });
      expect(await latchkey.listKeys(question)).toMatchObject({ scanned: 2_000 });
      await latchkey.createKey({ apiId: apiIds[1] as string, externalId });
      expect(await rejectionOfList(latchkey, question)).toMatchObject({ reason: "too-many-keys" });
      const inOne = await latchkey.listKeys({ ...question, apiId: apiIds[0] });
      expect(inOne).toMatchObject({ scanned: 1_000 });
    });

    test("is not possible for all keys of a workspace, however few", async () => {
      const { latchkey } = await withApis("tides");
      for (const orderBy of ["expires", "lastUsedAt"] as const)
        expect(await rejectionOfList(latchkey, { orderBy })).toMatchObject({
          reason: "too-many-keys",
        });
      expect(await latchkey.listKeys({ orderBy: "createdAt" })).toEqual({ keys: [], scanned: 0 });
    });
  });

  describe("more than 1,000 APIs", () => {
    test("are searched a thousand at a time, and all of their keys are found once", async () => {
      const names = Array.from({ length: 1_003 }, (_, at) => `api ${at}`);
      const { context, apiIds, latchkey } = await withApis(...names);
      const [last = "", first = ""] = [apiIds.at(-1), apiIds[0]];
      const late = (await latchkey.createKey({ apiId: last, externalId: "pier-7" })).keyId;
      const made: string[] = [];
      for (const apiId of [first, apiIds[500] ?? "", apiIds[999] ?? "", first])
        made.push((await latchkey.createKey({ apiId, externalId: "pier-7" })).keyId);
      const { counts, latchkey: counted } = counting(context);
      for (const question of [{}, { externalId: "pier-7" }, { enabled: true }])
        expect((await allPages(counted, { ...question, limit: 3 })).ids).toEqual([...made, late]);
      expect(counts.atOnce).toBeLessThanOrEqual(50);
      const sorted = { externalId: "pier-7", orderBy: "expires" } as const;
      expect(idsOf(await counted.listKeys(sorted))).toEqual([late, ...made]);
    });

    test("F1: APIs that are created and deleted move no key to a place that a reader has passed", async () => {
      const names = Array.from({ length: 1_003 }, (_, at) => `api ${at}`);
      const { apiIds, latchkey, context } = await withApis(...names);
      const made: string[] = [];
      for (const at of [0, 998, 999, 1_000, 1_002])
        made.push((await latchkey.createKey({ apiId: apiIds[at] ?? "" })).keyId);
      const page = await latchkey.listKeys({ limit: 1 });
      // The first APIs are deleted, and others get ids between existing ones, from a process with a slow clock.
      for (const apiId of apiIds.slice(1, 5)) await latchkey.deleteApi({ apiId });
      const behind = context.another({ clock: () => NOON - HOUR_MS });
      for (let more = 0; more < 8; more += 1) {
        const { apiId } = await behind.createApi({ name: "behind" });
        await behind.createKey({ apiId });
      }
      const { ids } = await allPages(latchkey, { limit: 1, cursor: page.cursor });
      const seen = [...idsOf(page), ...ids];
      for (const id of made) expect([id, seen.filter((one) => one === id)]).toEqual([id, [id]]);
    });
  });
});
