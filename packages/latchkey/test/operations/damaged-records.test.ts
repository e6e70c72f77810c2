import {
  EMPTY_CHANGE,
  type KeyStore,
  type Latchkey,
  type LoadedRecord,
  type RecordKind,
} from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { DAMAGES, damageBody } from "../damage.js";
import { describeOnMemory, issue, rejectionOf, type TestContext } from "../test-context.js";

interface Fixture {
  readonly apiId: string;
  readonly keyId: string;
  readonly key: string;
  readonly identityId: string;
}

// A journey, which runs on every store, covers revocations with every damage, and that every process sees them.
describeOnMemory("a damaged record", (open) => {
  /** A key with an API and an identity, verified by another process. */
  async function warm(): Promise<TestContext & Fixture & { readonly other: Latchkey }> {
    const context = open();
    const ids = await issue(context, { externalId: "pier-7" });
    const { id: identityId } = await context.latchkey.getIdentity({ externalId: "pier-7" });
    const other = context.another();
    expect(await other.verifyKey({ key: ids.key })).toMatchObject({ valid: true });
    return { ...context, ...ids, identityId, other };
  }

  describe.each(DAMAGES)("with $kind", ({ damage }) => {
    test("of a key does not keep the key in its list after its deletion", async () => {
      const fixture = await warm();
      const { latchkey, apiId, keyId } = fixture;
      await damage(fixture.store, "key", keyId);
      expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 1, damaged: 1 });
      await latchkey.deleteKey({ keyId });
      expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 0 });
      expect(await rejectionOf(latchkey.deleteKey({ keyId }))).toMatchObject({ code: "NOT_FOUND" });
    });

    test.each([
      ["deleteKey", (latchkey: Latchkey, keyId: string) => latchkey.deleteKey({ keyId })],
      [
        "deleteKeys",
        (latchkey: Latchkey, keyId: string) => latchkey.deleteKeys({ keyIds: [keyId] }),
      ],
    ])("of a key does not keep the key in the list of its identity after %s", async (_, remove) => {
      const { store, latchkey, apiId, keyId } = await warm();
      const { found } = await store.read("ws_default", [{ kind: "key", id: keyId }]);
      const { record } = found[0] as LoadedRecord;
      await damage(store, "key", keyId);
      await remove(latchkey, keyId);
      // Restores the record without list entries. A list entry that was left behind would lead to it.
      await store.commit("ws_default", { ...EMPTY_CHANGE, puts: [{ record }] });
      const page = await latchkey.listKeys({ apiId, externalId: "pier-7" });
      expect(page).toEqual({ keys: [], total: 0 });
    });

    test("of an identity does not prevent its deletion: its keys live on, and its name is free", async () => {
      const fixture = await warm();
      const { latchkey, identityId, key, keyId } = fixture;
      await damage(fixture.store, "identity", identityId);
      expect(await latchkey.deleteIdentity({ identityId })).toEqual({ keys: "unlinked" });
      for (const one of [latchkey, fixture.other]) {
        const verdict = await one.verifyKey({ key });
        expect(verdict).toMatchObject({ valid: true, keyId });
        expect(verdict).not.toHaveProperty("identity");
      }
      expect(await latchkey.listIdentities()).toEqual({ identities: [], total: 0 });
      const { events } = await latchkey.listAuditEvents({ identityId, limit: 1 });
      expect(events).toMatchObject([
        { type: "identity.deleted", resourceId: identityId, changes: [], unreadable: true },
      ]);
      const again = await latchkey.createIdentity({ externalId: "pier-7" });
      expect(again.identityId).not.toBe(identityId);
    });

    test("of a root key does not prevent its revocation, and it authorises nothing from then on", async () => {
      const context = open();
      const { latchkey } = context;
      const { key, rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
      const other = context.another();
      expect(await other.authenticateRootKey(key)).toMatchObject({ rootKeyId });
      await damage(context.store, "rootKey", rootKeyId);
      expect(await latchkey.listRootKeys()).toEqual({ rootKeys: [], total: 1, damaged: 1 });
      expect(await rejectionOf(other.authenticateRootKey(key))).toMatchObject({
        code: "STORE_CORRUPT",
      });
      await latchkey.revokeRootKey({ rootKeyId });
      for (const one of [latchkey, other])
        expect(await one.authenticateRootKey(key)).toEqual({ kind: "refused" });
      expect(await latchkey.listRootKeys()).toEqual({ rootKeys: [], total: 0 });
      const { events } = await latchkey.listAuditEvents({ limit: 1 });
      expect(events).toMatchObject([{ type: "root_key.revoked", unreadable: true }]);
    });
  });

  test("of an API loses its protection, and the API can be deleted with its keys", async () => {
    const fixture = await warm();
    const { latchkey, apiId, keyId, store } = fixture;
    await damageBody(store, "api", apiId, () => null);
    expect(await latchkey.listApis()).toEqual({ apis: [], total: 1, damaged: 1 });
    await latchkey.deleteApi({ apiId });
    expect(await latchkey.listApis()).toEqual({ apis: [], total: 0 });
    expect((await store.read("ws_default", [{ kind: "key", id: keyId }])).found).toEqual([null]);
    const { events } = await latchkey.listAuditEvents({ limit: 2 });
    expect(events.map(({ type, unreadable }) => [type, unreadable])).toEqual([
      ["key.deleted", undefined],
      ["api.deleted", true],
    ]);
  });

  test("of a disabled workspace does not enable it, whichever member is missing", async () => {
    for (const gone of ["name", "disabled"]) {
      const { latchkey, store, another } = open();
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      const { key } = await latchkey.createKey({ apiId });
      await latchkey.setWorkspaceEnabled(false);
      await damageBody(store, "workspace", "ws_default", (body) =>
        Object.fromEntries(Object.entries(body).filter(([name]) => name !== gone)),
      );
      const verdict = another().verifyKey({ key });
      if (gone === "name") expect(await verdict).toMatchObject({ code: "FORBIDDEN" });
      else expect((await rejectionOf(verdict)).code).toBe("STORE_CORRUPT");
    }
  });

  test("of a disabled key does not enable it for a process with the original record in its cache", async () => {
    const fixture = await warm();
    const { latchkey, keyId, key, store, other } = fixture;
    const [, unreadable] = DAMAGES;
    await unreadable.damage(store, "key", keyId);
    await latchkey.updateKey({ keyId, enabled: false });
    // The stored version was lost, and started again at one that no process has seen.
    expect(await other.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ enabled: false });
  });

  test("is skipped and counted in every list, and later records are listed", async () => {
    const { latchkey, store } = open();
    const apis: string[] = [];
    const keys: string[] = [];
    const identities: string[] = [];
    const rootKeys: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const { apiId } = await latchkey.createApi({ name: `api ${at}` });
      apis.push(apiId);
      const externalId = `pier-${at}`;
      keys.push((await latchkey.createKey({ apiId: apis[0] as string, externalId })).keyId);
      identities.push((await latchkey.getIdentity({ externalId })).id);
      rootKeys.push((await latchkey.createRootKey({ permissions: ["*"] })).rootKeyId);
    }
    const spoil = (store: KeyStore, kind: RecordKind, id: string | undefined) =>
      damageBody(store, kind, id as string, () => ({ broken: true }));
    const logged = (await latchkey.listAuditEvents()).events.map(({ id }) => id);
    await spoil(store, "auditEntry", logged[1]);
    const { events, damaged } = await latchkey.listAuditEvents();
    expect([events.map(({ id }) => id), damaged]).toEqual([logged.toSpliced(1, 1), 1]);

    await spoil(store, "key", keys[1]);
    const apiId = apis[0] as string;
    expect(idsOf(await latchkey.listKeys({ apiId }), "keys")).toEqual([[keys[0], keys[2]], 3, 1]);
    const first = await latchkey.listKeys({ apiId, limit: 2 });
    expect(idsOf(first, "keys")).toEqual([[keys[0]], 3, 1]);
    const second = await latchkey.listKeys({ apiId, limit: 2, cursor: first.cursor as string });
    expect(idsOf(second, "keys")).toEqual([[keys[2]], 3, undefined]);

    await spoil(store, "identity", identities[1]);
    expect(idsOf(await latchkey.listIdentities(), "identities")).toEqual([
      [identities[0], identities[2]],
      3,
      1,
    ]);
    await spoil(store, "rootKey", rootKeys[1]);
    expect(idsOf(await latchkey.listRootKeys(), "rootKeys")).toEqual([
      [rootKeys[0], rootKeys[2]],
      3,
      1,
    ]);
    await spoil(store, "api", apis[1]);
    const { apis: left, ...rest } = await latchkey.listApis();
    expect([left.map(({ id }) => id), rest]).toEqual([
      [apis[0], apis[2]],
      { total: 3, damaged: 1 },
    ]);
  });

  test("of a role or permission is skipped in its list, which is otherwise complete", async () => {
    const { latchkey, store } = open();
    const { permissionId } = await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createPermission({ name: "gates.open" });
    const { roleId } = await latchkey.createRole({ name: "pilot" });
    await latchkey.createRole({ name: "warden", permissions: ["gates.open"] });
    await damageBody(store, "permission", permissionId, () => ({ broken: true }));
    await damageBody(store, "role", roleId, () => ({ broken: true }));
    expect((await latchkey.listPermissions()).map(({ name }) => name)).toEqual(["gates.open"]);
    expect((await latchkey.listRoles()).map(({ name }) => name)).toEqual(["warden"]);
  });
});

/** The ids on a page, the size of the list, and how many damaged records were left out. */
function idsOf<Name extends string>(
  page: { readonly [Member in Name]: readonly { readonly id: string }[] } & {
    readonly total: number;
    readonly damaged?: number;
  },
  name: Name,
) {
  return [page[name].map(({ id }) => id), page.total, page.damaged];
}
