import { EMPTY_CHANGE, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { openService } from "../testing/open-service.js";

/** A store in which the record with this id has lost its body. */
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

test("a key that cannot be decrypted does not fail its page: it has the reason", async () => {
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

const KINDS = ["key", "api", "identity", "role"] as const;
const TOKENS = ["its API", "all APIs", "everything", "another API"] as const;

describe("with a damaged", () => {
  /** A key with an API, an identity and a role, and tokens that may revoke it: for its API only, for all APIs, for everything. */
  async function openDamaged(kind: (typeof KINDS)[number]) {
    const service = await openService();
    const { latchkey, store } = service;
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { roleId } = await latchkey.createRole({ name: "clerk" });
    const { identityId } = await latchkey.createIdentity({ externalId: "user_1" });
    const made = { apiId, externalId: "user_1", roles: ["clerk"] };
    const { key, keyId } = await latchkey.createKey(made);
    const id = { key: keyId, api: apiId, identity: identityId, role: roleId }[kind];
    const { found } = await store.read("ws_default", [{ kind, id }]);
    const puts = found
      .flatMap((loaded) => loaded ?? [])
      .map(({ record }) => ({ ...record, body: {} }));
    await store.commit("ws_default", { ...EMPTY_CHANGE, puts: puts.map((record) => ({ record })) });
    const rights = (of: string) => [`api.${of}.delete_key`, `api.${of}.update_key`];
    const tokens = {
      "its API": await service.rootKey(...rights(apiId)),
      "all APIs": await service.rootKey(...rights("*")),
      everything: service.root,
      "another API": await service.rootKey(...rights("api_other")),
    };
    return { ...service, tokens, key, keyId, apiId, identityId };
  }

  describe.each(KINDS)("%s", (kind) => {
    test.each(TOKENS)("a key is revoked by who may do so for %s", async (token) => {
      // If the key's own record cannot be read, its API is unknown.
      const mayNot = token === "another API" || (token === "its API" && kind === "key");
      const status = mayNot ? 403 : 200;
      const { call, tokens, keyId } = await openDamaged(kind);
      const off = { keyId, enabled: false };
      expect((await call("keys.updateKey", off, { token: tokens[token] })).status).toBe(status);
      expect((await call("keys.deleteKey", { keyId }, { token: tokens[token] })).status).toBe(
        status,
      );
    });
  });

  test("record, a refusal does not reveal whose key it is", async () => {
    const { call, tokens, key } = await openDamaged("identity");
    const answers = await Promise.all(
      [key, "key_none"].map((secret) =>
        call("keys.whoami", { key: secret }, { token: tokens["another API"] }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  });

  test("identity, it can be deleted by its id, also in version 2", async () => {
    for (const version of ["v1", "v2"] as const) {
      const { call, rootKey, identityId } = await openDamaged("identity");
      const token = await rootKey(`identity.${identityId}.delete_identity`);
      const input = version === "v1" ? { identityId } : { identity: identityId };
      const reply = await call("identities.deleteIdentity", input, { token, version });
      expect(reply.status).toBe(200);
    }
  });

  test("key, the audit log notes that it could not be read", async () => {
    const { ok, keyId } = await openDamaged("key");
    await ok("keys.deleteKey", { keyId });
    const { events } = await ok("audit.listAuditEvents", { keyId, limit: 1 });
    expect(events).toMatchObject([{ type: "key.deleted", unreadable: true, changes: [] }]);
  });
});
