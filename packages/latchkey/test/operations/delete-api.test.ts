import { EMPTY_CHANGE, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnMemory, rejectionOf, VAULT_KEYS } from "../test-context.js";
import { overtaken, wrapped } from "../wrapped-store.js";

describeOnMemory("deleteApi and deleteKeys", (open) => {
  test("the keys of a deleted API stop verifying, even if they are cached", async () => {
    const context = open();
    const other = context.another();
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const { key, keyId } = await context.latchkey.createKey({ apiId });
    expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
    expect(await context.latchkey.deleteApi({ apiId })).toEqual({});
    expect(await other.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
    const errors = await Promise.all(
      [
        context.latchkey.getApi({ apiId }),
        context.latchkey.listKeys({ apiId }),
        context.latchkey.getKey({ keyId }),
        context.latchkey.createKey({ apiId }),
        context.latchkey.deleteKeys({ apiId }),
        context.latchkey.deleteApi({ apiId }),
      ].map(rejectionOf),
    );
    for (const error of errors) {
      expect(error).toMatchObject({ code: "NOT_FOUND" });
    }
  });

  test("deleteKeys deletes every key of an API in several steps, and returns their number", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { apiId: otherId } = await latchkey.createApi({ name: "harbour gates" });
    const kept = await latchkey.createKey({ apiId: otherId });
    const { key } = await latchkey.createKey({ apiId });
    for (let count = 1; count < 1_201; count += 1) await latchkey.createKey({ apiId });
    expect(await latchkey.deleteKeys({ apiId })).toEqual({ deletedKeys: 1_201 });
    expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 0 });
    expect(await latchkey.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
    expect(await latchkey.verifyKey({ key: kept.key })).toMatchObject({ valid: true });
    expect(await latchkey.deleteKeys({ apiId })).toEqual({ deletedKeys: 0 });
  });

  test("an interrupted deletion is completed by calling again, including encrypted secrets", async () => {
    const context = open({ vault: { current: "a", keys: { a: VAULT_KEYS[0] } } });
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const keyIds: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      keyIds.push((await context.latchkey.createKey({ apiId, recoverable: true })).keyId);
    }
    let commits = 0;
    const breaking = context.another({
      store: wrapped(context.store, {
        // The first commit deletes the API, the second its keys.
        commit: (workspaceId, change) => {
          commits += 1;
          if (commits !== 2) return context.store.commit(workspaceId, change);
          return Promise.reject(new LatchkeyError("STORE_UNAVAILABLE", "gone for a moment"));
        },
      }),
    });
    const broken = await rejectionOf(breaking.deleteApi({ apiId }));
    expect(broken).toMatchObject({ code: "STORE_UNAVAILABLE" });
    const left = () =>
      context.store.read(
        "ws_default",
        keyIds.map((id) => ({ kind: "key", id })),
      );
    expect((await left()).found).not.toContain(null);
    expect(await breaking.deleteApi({ apiId })).toEqual({});
    expect((await left()).found).toEqual([null, null, null]);
    expect(await rejectionOf(breaking.deleteApi({ apiId }))).toMatchObject({ code: "NOT_FOUND" });
  });

  test("an API of another workspace is neither deleted nor emptied", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key } = await latchkey.createKey({ apiId });
    const other = latchkey.workspace("ws_other");
    expect(await rejectionOf(other.deleteApi({ apiId }))).toMatchObject({ code: "NOT_FOUND" });
    expect(await rejectionOf(other.deleteKeys({ apiId }))).toMatchObject({ code: "NOT_FOUND" });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("a key that moves to an identity during its deletion stays in no list", async () => {
    const context = open();
    const { latchkey, store } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId });
    const slower = context.another({
      store: overtaken(store, () => latchkey.updateKey({ keyId, externalId: "harbour-7" })),
    });
    expect(await slower.deleteKeys({ apiId })).toEqual({ deletedKeys: 1 });
    const { id } = await latchkey.getIdentity({ externalId: "harbour-7" });
    // The store keeps no trace: if a record is written under the same id, it is not in the identity's list.
    const record = { kind: "key", id: keyId, version: 1, link: null, body: null } as const;
    await store.commit("ws_default", { ...EMPTY_CHANGE, puts: [{ record }] });
    const want = { kind: "key", list: `keys:${apiId}`, of: id, after: null, limit: 10 } as const;
    expect((await store.page("ws_default", want)).found).toEqual([]);
  });

  test("a process that knows that an API is deleted reports this first, even if grants are missing, too", async () => {
    const context = open();
    const other = context.another();
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const { key } = await context.latchkey.createKey({ apiId });
    await other.verifyKey({ key });
    await context.latchkey.deleteApi({ apiId });
    const error = await rejectionOf(other.createKey({ apiId, permissions: ["tides.read"] }));
    expect(error).toMatchObject({ code: "NOT_FOUND" });
  });
});
