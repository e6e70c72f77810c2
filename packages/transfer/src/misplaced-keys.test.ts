import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EMPTY_CHANGE, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, onTestFinished, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { latchkeyOn } from "./testing/fixture.js";

/** A store with a key, and a function that makes its record name an API that does not exist, under the same version. */
async function aSource() {
  const store = memoryStore();
  const latchkey = latchkeyOn(store);
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const { key, keyId } = await latchkey.createKey({ apiId, remaining: 10 });
  const damage = async () => {
    const { found } = await store.read(latchkey.workspaceId, [{ kind: "key", id: keyId }]);
    const record = found[0]?.record;
    if (record === undefined) throw new Error("there is no key to damage");
    const body = { ...(record.body as object), apiId: "api_of_nobody" };
    const puts = [{ record: { ...record, body } }];
    await store.commit(latchkey.workspaceId, { ...EMPTY_CHANGE, puts });
  };
  return { store, latchkey, apiId, key, keyId, damage };
}

/** The store of a live copy. It runs `act` once, when everything was compared and the keys are about to move. */
function atTheEnd(
  store: KeyStore,
  act: () => Promise<void>,
): { store: KeyStore; ran: () => boolean } {
  let hasRun = false;
  const commit: KeyStore["commit"] = async (workspaceId, change) => {
    const isEnd = change.puts.some(({ record }) => Object(record.body).state === "moved");
    if (isEnd && !hasRun) {
      hasRun = true;
      await act();
    }
    return store.commit(workspaceId, change);
  };
  return { store: { ...store, commit }, ran: () => hasRun };
}

const damaged = (keyId: string) => ({
  code: "STORE_CORRUPT",
  message: expect.stringContaining(keyId),
});

describe("a key that names an API other than the one in whose list it is", () => {
  test.each([[{}], [{ live: true }]])("stops a copy, which names it: %o", async (options) => {
    const { store, keyId, damage } = await aSource();
    await damage();
    const copied = copy(store, memoryStore(), options);
    await expect(copied).rejects.toMatchObject(damaged(keyId));
  });

  test("stops a backup, which names it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-misplaced-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { store, keyId, damage } = await aSource();
    await damage();
    const written = backup(store, join(folder, "keys.lkb"));
    await expect(written).rejects.toMatchObject(damaged(keyId));
  });

  test("stops a live copy if it is damaged between the comparison and the end", async () => {
    const { store, latchkey, key, keyId, damage } = await aSource();
    const source = atTheEnd(store, async () => {
      // It counts, so the key is among the last changes that the copy brings over.
      expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "VALID" });
      await damage();
    });
    await latchkey.verifyKey({ key });
    const copied = copy(source.store, memoryStore(), { live: true });
    await expect(copied).rejects.toMatchObject(damaged(keyId));
    expect(source.ran()).toBe(true);
  });

  test("is no key that a live copy finds anew, or whose API is deleted meanwhile", async () => {
    const { store, latchkey, apiId } = await aSource();
    const source = atTheEnd(store, async () => {
      await latchkey.createKey({ apiId, name: "new" });
      const { apiId: other } = await latchkey.createApi({ name: "boats" });
      await latchkey.createKey({ apiId: other });
      await latchkey.deleteApi({ apiId: other });
    });
    const target = memoryStore();
    await copy(source.store, target, { live: true });
    expect(source.ran()).toBe(true);
    const { keys } = await latchkeyOn(target).listKeys({ apiId });
    expect(keys.map(({ name }) => name)).toContain("new");
    expect(keys).toHaveLength(2);
  });
});
