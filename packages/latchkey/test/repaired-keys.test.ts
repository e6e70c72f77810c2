import { createLatchkey, type KeyStore, type Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { damageBody } from "./damage.js";
import { describeOnEveryStore } from "./every-store.js";
import { describeOnMemory, issue } from "./test-context.js";
import { unclosed, wrapped } from "./wrapped-store.js";

/** A store that runs `act` once, just before a list is read. */
function beforeList(store: KeyStore, act: () => Promise<unknown>): KeyStore {
  let isDone = false;
  return wrapped(store, {
    page: async (workspaceId, want) => {
      if (!isDone) {
        isDone = true;
        await act();
      }
      return store.page(workspaceId, want);
    },
  });
}

describeOnEveryStore("a damaged key that another call repairs meanwhile", (open) => {
  test.each<[string, (latchkey: Latchkey, keyId: string) => Promise<unknown>]>([
    ["deleted", (latchkey, keyId) => latchkey.deleteKey({ keyId })],
    ["switched off", (latchkey, keyId) => latchkey.updateKey({ keyId, enabled: false })],
    ["switched off with others", (latchkey, keyId) => latchkey.disableKeys({ keyIds: [keyId] })],
    [
      "shown and deleted",
      (latchkey, keyId) => latchkey.getKey({ keyId }).then(() => latchkey.deleteKey({ keyId })),
    ],
  ])("is not reported as missing: it is %s", async (_, revoke) => {
    const context = open();
    const { store, latchkey } = context;
    const { key, keyId } = await issue(context, {});
    const { found } = await store.read("ws_default", [{ kind: "key", id: keyId }]);
    const body = found[0]?.record.body;
    await damageBody(store, "key", keyId, (own) => ({ ...own, apiId: "api_of_nobody" }));
    const repair = async () => {
      await damageBody(store, "key", keyId, () => body);
      await latchkey.updateKey({ keyId, name: "repaired" });
    };
    const another = createLatchkey({ store: unclosed(beforeList(store, repair)) });
    await revoke(another, keyId);
    expect((await latchkey.verifyKey({ key })).valid).toBe(false);
    await another.close();
  });
});

describeOnMemory("a store that answers a key as damaged whatever is written of it", (open) => {
  test.each(["disable", "delete"] as const)(
    "does not make the deletion of its identity run forever: %s",
    async (keys) => {
      const context = open();
      const { identityId } = await context.latchkey.createIdentity({ externalId: "pier-7" });
      await issue(context, { externalId: "pier-7" });
      const store = wrapped(context.store, {
        page: async (workspaceId, want) => {
          const page = await context.store.page(workspaceId, want);
          const found = page.found.map((loaded) => {
            const { record } = loaded;
            const body = { ...Object(record.body), disabled: "1.5s" };
            return record.kind === "key" ? { ...loaded, record: { ...record, body } } : loaded;
          });
          return { ...page, found };
        },
      });
      const another = createLatchkey({ store: unclosed(store) });
      const deleted = another.deleteIdentity({ identityId, keys });
      if (keys === "delete") expect(await deleted).toMatchObject({ deletedKeys: 1 });
      else
        await expect(deleted).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
          outcome: "unknown",
        });
      await another.close();
    },
  );
});
