import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { openService } from "../testing/open-service.js";

/** A store whose record with this id has lost its body. */
function damaging(store: KeyStore, id: () => string): KeyStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name !== "page") return member.bind(target);
      return async (...args: Parameters<KeyStore["page"]>) => {
        const page = await target.page(...args);
        const found = page.found.map((loaded) =>
          loaded.record.id === id()
            ? { ...loaded, record: { ...loaded.record, body: {} } }
            : loaded,
        );
        return { ...page, found };
      };
    },
  });
}

test("a damaged record is left out of its page and counted, and hides no other", async () => {
  let damaged = "";
  const service = await openService({ store: damaging(memoryStore(), () => damaged) });
  const { apiId } = await service.latchkey.createApi({ name: "payments" });
  const created = [1, 2, 3].map(() => service.ok("keys.createKey", { apiId }));
  const [first, second, third] = (await Promise.all(created)).map(({ keyId }) => keyId);
  expect(await service.ok("apis.listKeys", { apiId })).not.toHaveProperty("damaged");
  damaged = second;
  const page = await service.ok("apis.listKeys", { apiId });
  expect(page.keys.map(({ id }: { id: string }) => id)).toEqual([first, third]);
  expect([page.total, page.damaged]).toEqual([3, 1]);
});

test("a key that cannot be decrypted does not fail its page: it shows why", async () => {
  const store = memoryStore();
  const { latchkey, ...withVault } = await openService({ store });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  await withVault.ok("keys.createKey", { apiId, recoverable: true });
  await withVault.ok("keys.createKey", { apiId });
  const withoutVault = await openService({ store, vault: false });
  const { keys } = await withoutVault.ok("apis.listKeys", { apiId, decrypt: true });
  expect(keys[0]).toMatchObject({ plaintextError: "no-vault" });
  expect(keys[0]).not.toHaveProperty("plaintext");
  expect(keys[1]).not.toHaveProperty("plaintextError");
});
