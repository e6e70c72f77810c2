import type { JsonValue, KeyStore, RecordKind } from "@latchkey/core";
import { expect, test } from "vitest";
import { overwrite } from "./damage.js";
import { describeOnEveryStore } from "./every-store.js";
import type { TestContext } from "./test-context.js";

type Body = { readonly [member: string]: JsonValue };

/** What a later version of latchkey may add to a record. */
const LATER = { addedLater: [{ kind: "later", at: 7 }] };

async function bodyOf(store: KeyStore, kind: RecordKind, id: string) {
  const { found } = await store.read("ws_default", [{ kind, id }]);
  return found[0]?.record.body as Body | undefined;
}

/** Changes a record as a process of a later version does. */
function changeLater(store: KeyStore, kind: RecordKind, id: string): Promise<void> {
  return overwrite(store, kind, id, "ws_default", (record) => ({
    ...record,
    version: record.version === 1 ? 2 : record.version - 1,
    body: { ...(record.body as Body), ...LATER },
  }));
}

type Step = (context: TestContext, id: string) => Promise<unknown>;

const OF_KEYS: Readonly<Record<string, Step>> = {
  updateKey: ({ latchkey }, keyId) => latchkey.updateKey({ keyId, name: "other", meta: null }),
  setRoles: ({ latchkey }, keyId) =>
    latchkey.setRoles({ keyId, roles: [{ name: "writer", create: true }] }),
  disableKeys: ({ latchkey }, keyId) => latchkey.disableKeys({ keyIds: [keyId] }),
  rotateKey: ({ latchkey }, keyId) => latchkey.rotateKey({ keyId, graceMs: "1d" }),
  moveKey: ({ latchkey }, keyId) => latchkey.updateKey({ keyId, externalId: "pier-8" }),
};

describeOnEveryStore("what a later version has added to a record", (open) => {
  test("of a key is in the successor of a rotation", async () => {
    const { store, latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId });
    await changeLater(store, "key", keyId);
    const next = await latchkey.rotateKey({ keyId });
    expect(await bodyOf(store, "key", next.keyId)).toMatchObject(LATER);
  });

  test.each(Object.entries(OF_KEYS))("of a key outlives %s", async (_, step) => {
    const context = open();
    const { store, latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId, name: "tides", meta: { plan: "pro" } });
    await changeLater(store, "key", keyId);
    const before = await bodyOf(store, "key", keyId);
    await step(context, keyId);
    const after = await bodyOf(store, "key", keyId);
    expect(after).toMatchObject(LATER);
    expect(after).not.toEqual(before);
  });

  test("of other records outlives a change", async () => {
    const { store, latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const identity = await latchkey.createIdentity({ externalId: "pier-7" });
    const { roleId } = await latchkey.createRole({ name: "reader" });
    await latchkey.createPermission({ name: "tides.read" });
    const { rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
    const changes: readonly (readonly [RecordKind, string, () => Promise<unknown>])[] = [
      ["api", apiId, () => latchkey.updateApi({ apiId, name: "charts" })],
      [
        "identity",
        identity.identityId,
        () => latchkey.updateIdentity({ externalId: "pier-7", meta: { plan: "pro" } }),
      ],
      ["role", roleId, () => latchkey.setRolePermissions({ roleId, permissions: ["tides.read"] })],
      ["rootKey", rootKeyId, () => latchkey.updateRootKey({ rootKeyId, name: "billing" })],
    ];
    for (const [kind, id, change] of changes) {
      await changeLater(store, kind, id);
      const before = await bodyOf(store, kind, id);
      await change();
      const after = await bodyOf(store, kind, id);
      expect(after, kind).toMatchObject(LATER);
      expect(after, kind).not.toEqual(before);
    }
  });

  test("of an entry of the audit log is gone once its identity is erased, because nobody knows what it names", async () => {
    const { store, latchkey } = open();
    const { identityId } = await latchkey.createIdentity({ externalId: "pier-7" });
    const { events } = await latchkey.listAuditEvents({ identityId });
    const eventId = events[0]?.id ?? "";
    await changeLater(store, "auditEntry", eventId);
    await latchkey.eraseIdentity({ identityId });
    const after = await bodyOf(store, "auditEntry", eventId);
    expect(after).toMatchObject({ erased: true });
    expect(after).not.toHaveProperty("addedLater");
  });
});
