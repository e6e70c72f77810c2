import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { damageBody } from "../damage.js";
import { describeOnMemory, issue, rejectionOf } from "../test-context.js";
import { wrapped } from "../wrapped-store.js";

/** A store that counts the pages read from it. */
function counting(): { readonly store: KeyStore; readonly pages: () => number } {
  const store = memoryStore();
  let pages = 0;
  return {
    store: wrapped(store, {
      page: (...args) => {
        pages += 1;
        return store.page(...args);
      },
    }),
    pages: () => pages,
  };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const seen: Item[] = [];
  for await (const item of items) seen.push(item);
  return seen;
}

describeOnMemory("keysOf", (open) => {
  async function withKeys(count: number) {
    const { store, pages } = counting();
    const { latchkey } = open({ store });
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const keyIds: string[] = [];
    for (let made = 0; made < count; made += 1)
      keyIds.push((await latchkey.createKey({ apiId, externalId: `pier-${made % 2}` })).keyId);
    return { store, latchkey, apiId, keyIds, pages };
  }

  test("returns every key once, in the order of creation, a page at a time", async () => {
    const { latchkey, apiId, keyIds, pages } = await withKeys(5);
    const keys = latchkey.keysOf({ apiId, limit: 2 });
    expect(pages()).toBe(0);
    expect((await all(keys)).map(({ id }) => id)).toEqual(keyIds);
    expect(pages()).toBe(3);
    expect(keys.damaged).toBe(0);
  });

  test("keeps the filter on every page", async () => {
    const { latchkey, apiId, keyIds } = await withKeys(5);
    const keys = await all(latchkey.keysOf({ apiId, limit: 1, externalId: "pier-1" }));
    expect(keys.map(({ id }) => id)).toEqual([keyIds[1], keyIds[3]]);
  });

  test("reads no further page once the loop is left, even at the end of a page", async () => {
    const { latchkey, apiId, pages } = await withKeys(5);
    let seen = 0;
    for await (const key of latchkey.keysOf({ apiId, limit: 2 })) {
      expect(key.apiId).toBe(apiId);
      seen += 1;
      if (seen === 2) break;
    }
    expect(pages()).toBe(1);
  });

  test("continues after damaged keys, even after a whole page of them, and counts them", async () => {
    const { latchkey, store, apiId, keyIds } = await withKeys(5);
    for (const keyId of keyIds.slice(1, 4)) await damageBody(store, "key", keyId, () => "damaged");
    const keys = latchkey.keysOf({ apiId, limit: 1 });
    expect((await all(keys)).map(({ id }) => id)).toEqual([keyIds[0], keyIds[4]]);
    expect(keys.damaged).toBe(3);
  });

  test("can start after a cursor, and can be used only once", async () => {
    const { latchkey, apiId, keyIds } = await withKeys(3);
    const { cursor } = await latchkey.listKeys({ apiId, limit: 2 });
    const keys = latchkey.keysOf({ apiId, cursor });
    expect((await all(keys)).map(({ id }) => id)).toEqual(keyIds.slice(2));
    expect(await all(keys)).toEqual([]);
  });

  test("rejects within the loop like the list, and reads nothing for a bad input", async () => {
    const { latchkey, pages } = await withKeys(0);
    const bad = await rejectionOf(all(latchkey.keysOf({ apiId: "api_none", limit: 101 })));
    expect(bad.issues).toEqual([
      { path: "limit", message: "must be a whole number from 1 to 100" },
    ]);
    expect(pages()).toBe(0);
    const error = await rejectionOf(all(latchkey.keysOf({ apiId: "api_none" })));
    expect(error.code).toBe("NOT_FOUND");
  });
});

describeOnMemory("a loop over", (open) => {
  async function prepared() {
    const { latchkey } = open();
    for (const name of ["tides", "winds", "waves"]) await latchkey.createApi({ name });
    for (const externalId of ["a", "b", "c"]) await latchkey.createIdentity({ externalId });
    for (const name of ["a", "b", "c"])
      await latchkey.createRootKey({ name, permissions: ["api.*.read_api"] });
    return latchkey;
  }

  describe("pages of one item returns the same as one large page:", () => {
    test("apis", async () => {
      const latchkey = await prepared();
      const { apis } = await latchkey.listApis();
      expect(await all(latchkey.apis({ limit: 1 }))).toEqual(apis);
      expect(await all(latchkey.apis())).toEqual(apis);
      expect(apis).toHaveLength(3);
    });

    test("identities", async () => {
      const latchkey = await prepared();
      const { identities } = await latchkey.listIdentities();
      expect(await all(latchkey.identities({ limit: 1 }))).toEqual(identities);
      expect(await all(latchkey.identities())).toEqual(identities);
    });

    test("root keys", async () => {
      const latchkey = await prepared();
      const { rootKeys } = await latchkey.listRootKeys();
      expect(await all(latchkey.rootKeys({ limit: 1 }))).toEqual(rootKeys);
      expect(await all(latchkey.rootKeys())).toEqual(rootKeys);
    });

    test("the audit log, filtered too", async () => {
      const latchkey = await prepared();
      const { events } = await latchkey.listAuditEvents();
      expect(await all(latchkey.auditEvents({ limit: 1 }))).toEqual(events);
      expect(await all(latchkey.auditEvents())).toEqual(events);
      const identityId = events.find(({ type }) => type === "identity.created")?.resourceId ?? "";
      expect(await all(latchkey.auditEvents({ identityId, limit: 1 }))).toHaveLength(1);
    });

    test("reservations with their slots, of a key and of an identity", async () => {
      const context = open();
      const slots = { name: "slots", limit: 9, duration: "2m", algorithm: "concurrent" } as const;
      const { latchkey } = context;
      const fields = { externalId: "d", ratelimits: [{ ...slots, autoApply: true }] };
      const { key, keyId } = await issue(context, fields);
      const { id: identityId } = await latchkey.getIdentity({ externalId: "d" });
      for (let made = 0; made < 3; made += 1) {
        await latchkey.reserve({ key });
        await latchkey.verifyKey({ key });
      }
      for (const whose of [{ keyId }, { identityId }]) {
        const { reservations } = await latchkey.listReservations(whose);
        expect(reservations.map(({ uses, ratelimits }) => [uses, ratelimits])).toEqual(
          Array.from({ length: 6 }, (_, at) => [
            at % 2 === 0 ? 1 : 0,
            [{ name: "slots", cost: 1 }],
          ]),
        );
        expect(await all(latchkey.reservations({ ...whose, limit: 1 }))).toEqual(reservations);
        expect(await all(latchkey.reservations(whose))).toEqual(reservations);
      }
    });
  });
});
