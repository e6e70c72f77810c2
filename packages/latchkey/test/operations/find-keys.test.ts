import type { ListKeysInput } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { damageBody } from "../damage.js";
import { idsOf, makeKeys, openWithApis, rejectionOfList } from "../made-keys.js";
import { DAY_MS, describeOnMemory, HOUR_MS, NOON } from "../test-context.js";
import { wrapped } from "../wrapped-store.js";

describeOnMemory("finding keys", (open) => {
  const withApis = (...names: string[]) => openWithApis(open, ...names);

  describe("an answer", () => {
    test("has a total only for an API without newer filters and orders", async () => {
      const { latchkey, apiId } = await withApis("tides");
      await latchkey.createKey({ apiId, externalId: "pier-7" });
      const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-7" });
      for (const plain of [
        { apiId },
        { apiId, externalId: "pier-7" },
        { apiId, ownerId: "nobody", decrypt: false, limit: 3 },
      ])
        expect(Object.keys(await latchkey.listKeys(plain))).toEqual(["keys", "total"]);
      for (const owner of [{}, { externalId: "pier-7" }, { identityId }, { apiId, identityId }])
        expect(Object.keys(await latchkey.listKeys(owner))).toEqual(["keys"]);
      for (const more of [{ enabled: true }, { orderBy: "createdAt" }, { order: "desc" }] as const)
        expect(await latchkey.listKeys({ apiId, ...more })).toMatchObject({ scanned: 1 });
      for (const more of [{ enabled: true }, { orderBy: "expires" }] as const)
        expect(await latchkey.listKeys({ apiId, ...more })).not.toHaveProperty("total");
    });

    test("has no keys for an unknown owner, with and without an API", async () => {
      const { latchkey, apiId } = await withApis("tides");
      await latchkey.createKey({ apiId });
      for (const owner of [{ externalId: "nobody" }, { identityId: "id_none" }]) {
        expect(await latchkey.listKeys(owner)).toEqual({ keys: [] });
        const sorted = { ...owner, orderBy: "expires" } as const;
        expect(await latchkey.listKeys(sorted)).toEqual({ keys: [], scanned: 0 });
      }
      expect(await latchkey.listKeys({ apiId, identityId: "id_none" })).toEqual({ keys: [] });
    });

    test("has no keys in a workspace without APIs", async () => {
      const { latchkey } = open();
      expect(await latchkey.listKeys()).toEqual({ keys: [] });
      expect(await latchkey.listKeys({ enabled: true })).toEqual({ keys: [], scanned: 0 });
    });

    test("contains only keys of the workspace", async () => {
      const { latchkey, apiId } = await withApis("tides");
      const { keyId } = await latchkey.createKey({ apiId, externalId: "pier-7" });
      const theirs = latchkey.workspace("ws_northwind");
      const { apiId: other } = await theirs.createApi({ name: "tides" });
      await theirs.createKey({ apiId: other, externalId: "pier-7" });
      expect(idsOf(await latchkey.listKeys())).toEqual([keyId]);
      expect(idsOf(await latchkey.listKeys({ externalId: "pier-7" }))).toEqual([keyId]);
      const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-7" });
      expect(await theirs.listKeys({ identityId })).toEqual({ keys: [] });
    });

    test("shows and filters by the last use as soon as it is written", async () => {
      const { latchkey, apiId, context } = await withApis("tides");
      const { key, keyId } = await latchkey.createKey({ apiId });
      expect(idsOf(await latchkey.listKeys({ usedBefore: NOON + DAY_MS }))).toEqual([keyId]);
      context.advance(HOUR_MS);
      await latchkey.verifyKey({ key });
      await latchkey.getVerifications({ keyId, start: NOON, end: NOON + 1 });
      const other = context.another();
      expect(await other.listKeys({ usedAfter: NOON + HOUR_MS })).toMatchObject({
        keys: [{ id: keyId, lastUsedAt: NOON + HOUR_MS }],
      });
      expect(idsOf(await other.listKeys({ usedBefore: NOON + HOUR_MS }))).toEqual([]);
    });

    test("contains a key that a refill has just enabled, and not one that has just expired", async () => {
      const { latchkey, apiId, context } = await withApis("tides");
      const refill = { interval: "daily", amount: 1 } as const;
      const used = await latchkey.createKey({ apiId, remaining: 1, refill });
      const { keyId: expiring } = await latchkey.createKey({ apiId, expires: NOON + DAY_MS });
      await latchkey.verifyKey({ key: used.key });
      const enabled = async (is: boolean) => idsOf(await latchkey.listKeys({ enabled: is }));
      expect([await enabled(true), await enabled(false)]).toEqual([[expiring], [used.keyId]]);
      context.setClock(NOON + DAY_MS - 1);
      expect([await enabled(true), await enabled(false)]).toEqual([[used.keyId, expiring], []]);
      context.advance(1);
      expect([await enabled(true), await enabled(false)]).toEqual([[used.keyId], [expiring]]);
    });
  });

  describe("damaged records and concurrent changes", () => {
    test("damaged keys are counted once in any order, and hide nothing", async () => {
      const { apiIds, latchkey, context } = await withApis("tides", "winds");
      const made: string[] = [];
      for (const apiId of [...apiIds, ...apiIds, ...apiIds])
        made.push((await latchkey.createKey({ apiId, externalId: "pier-7" })).keyId);
      for (const at of [1, 2]) await damageBody(context.store, "key", made[at] ?? "", () => "?");
      const sound = [0, 3, 4, 5].map((at) => made[at]);
      for (const question of [
        {},
        { enabled: true },
        { externalId: "pier-7" },
        { order: "desc" },
        { externalId: "pier-7", orderBy: "expires" },
      ] as const) {
        const keys = latchkey.keysOf({ ...question, limit: 1 });
        const ids: string[] = [];
        for await (const { id } of keys) ids.push(id);
        expect([question, ids.sort(), keys.damaged]).toEqual([question, sound, 2]);
      }
    });

    test("keys of a deleted API are no longer found, and delay nothing", async () => {
      const { apiIds, latchkey, context } = await withApis("tides", "winds");
      const [first = "", second = ""] = apiIds;
      await makeKeys(latchkey, first, 30);
      const { keyId } = await latchkey.createKey({ apiId: second, externalId: "pier-7" });
      const page = await latchkey.listKeys({ limit: 2 });
      let isDeleted = false;
      // Deleted between reading the APIs and reading the keys of one.
      const store = wrapped(context.store, {
        page: async (workspaceId, want) => {
          if (want.kind === "key" && !isDeleted) {
            isDeleted = true;
            await latchkey.deleteApi({ apiId: first });
          }
          return context.store.page(workspaceId, want);
        },
      });
      const other = context.another({ store });
      expect(await other.listKeys({ cursor: page.cursor })).toMatchObject({
        keys: [{ id: keyId }],
      });
      expect(await rejectionOfList(latchkey, { apiId: first })).toMatchObject({
        code: "NOT_FOUND",
      });
    });

    test("a key that changes its owner while the list is read is not listed for the first owner", async () => {
      const { apiId, latchkey, context } = await withApis("tides");
      const { keyId } = await latchkey.createKey({ apiId, externalId: "pier-7" });
      // As on Redis, where the list is read a moment before the keys.
      const store = wrapped(context.store, {
        page: async (workspaceId, want) => {
          const page = await context.store.page(workspaceId, want);
          if (want.kind !== "key") return page;
          await latchkey.updateKey({ keyId, externalId: "pier-8" });
          const { revision, found } = await context.store.read(workspaceId, [
            { kind: "key", id: keyId },
          ]);
          return { ...page, revision, found: found.filter((each) => each !== null) };
        },
      });
      const other = context.another({ store });
      expect(idsOf(await other.listKeys({ externalId: "pier-7" }))).toEqual([]);
      expect(idsOf(await other.listKeys({ externalId: "pier-8" }))).toEqual([keyId]);
    });

    test("roles that change between two lists of a page are read again, together with the keys", async () => {
      const { apiIds, latchkey, context } = await withApis("tides", "winds");
      await latchkey.createPermission({ name: "docs.read" });
      const { roleId } = await latchkey.createRole({ name: "crew" });
      const made: string[] = [];
      for (const apiId of apiIds)
        made.push((await latchkey.createKey({ apiId, roles: ["crew"] })).keyId);
      let reads = 0;
      const store = wrapped(context.store, {
        page: async (workspaceId, want) => {
          reads += want.kind === "key" ? 1 : 0;
          if (reads === 2)
            await latchkey.setRolePermissions({ roleId, permissions: ["docs.read"] });
          return context.store.page(workspaceId, want);
        },
      });
      const other = context.another({ store });
      expect(idsOf(await other.listKeys({ permission: "docs.read" }))).toEqual(made);
    });
  });

  describe("an input", () => {
    test("with a whole secret instead of its start is refused without being repeated", async () => {
      const { latchkey, apiId } = await withApis("tides");
      const { key, keyId } = await latchkey.createKey({ apiId });
      const error = await rejectionOfList(latchkey, { start: key });
      expect(error.issues).toEqual([
        {
          path: "start",
          message: "must be the first characters of a secret, not the whole secret",
        },
      ]);
      expect(idsOf(await latchkey.listKeys({ start: key.slice(0, -1) }))).toEqual([keyId]);
    });

    test.each([
      [{ identityId: "id_1", externalId: "a" }, "identityId"],
      [{ identityId: "id_1", ownerId: "a" }, "identityId"],
      [{ orderBy: "name" }, "orderBy"],
      [{ order: "up" }, "order"],
      [{ enabled: "yes" }, "enabled"],
      [{ expiresBefore: -1 }, "expiresBefore"],
      [{ usedAfter: 1.5 }, "usedAfter"],
      [{ createdBefore: new Date(Number.NaN) }, "createdBefore"],
      [{ nameContains: "" }, "nameContains"],
      [{ nameContains: "a".repeat(257) }, "nameContains"],
      [{ start: "" }, "start"],
      [{ start: "a".repeat(33) }, "start"],
      [{ start: 7 }, "start"],
      [{ permission: "docs read" }, "permission"],
      [{ role: "" }, "role"],
      [{ environment: 1 }, "environment"],
      [{ tags: "eu" }, "tags"],
      [{ tags: ["a b"] }, "tags.0"],
      [{ tags: Array.from({ length: 33 }, () => "eu") }, "tags"],
      [{ expires: 1 }, "expires"],
      [{ limit: 0 }, "limit"],
    ])("is refused by the name of a wrong field: %o", async (input, path) => {
      const { latchkey } = open();
      const error = await rejectionOfList(latchkey, input as ListKeysInput);
      expect(error).toMatchObject({ code: "BAD_REQUEST", issues: [{ path }] });
    });

    test("may have instants as dates, which make the same question", async () => {
      const { latchkey, apiId } = await withApis("tides");
      for (const ms of [1, 2, 3]) await latchkey.createKey({ apiId, expires: NOON + ms });
      const { cursor } = await latchkey.listKeys({
        ...{ expiresBefore: new Date(NOON + 3), limit: 1, orderBy: "createdAt" },
      });
      const rest = await latchkey.listKeys({ expiresBefore: NOON + 3, order: "asc", cursor });
      expect(rest.keys.map(({ expires }) => expires)).toEqual([NOON + 2]);
    });

    test("with the same tags in another order makes the same question", async () => {
      const { latchkey, apiId } = await withApis("tides");
      for (let made = 0; made < 2; made += 1)
        await latchkey.createKey({ apiId, tags: ["eu", "billing"] });
      const { cursor } = await latchkey.listKeys({ tags: ["eu", "billing"], limit: 1 });
      expect((await latchkey.listKeys({ tags: ["billing", "eu"], cursor })).keys).toHaveLength(1);
    });
  });
});
