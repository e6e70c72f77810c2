import type { KeyStore, Latchkey, RecordKind } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { DAMAGES, damageBody } from "../damage.js";
import { describeOnMemory, issue, rejectionOf, type TestContext } from "../test-context.js";

interface Fixture {
  readonly apiId: string;
  readonly keyId: string;
  readonly key: string;
  readonly identityId: string;
}

/** What of a key can be damaged, and where it is. */
const TARGETS: readonly {
  readonly kind: RecordKind;
  readonly idOf: (fixture: Fixture) => string;
}[] = [
  { kind: "key", idOf: ({ keyId }) => keyId },
  { kind: "api", idOf: ({ apiId }) => apiId },
  { kind: "identity", idOf: ({ identityId }) => identityId },
];

/** The ways to revoke a key, by itself or with what it belongs to. */
const REVOCATIONS: readonly {
  readonly name: string;
  readonly revoke: (latchkey: Latchkey, fixture: Fixture) => Promise<unknown>;
  readonly type: string;
  readonly codes: readonly string[];
}[] = [
  {
    name: "deleteKey",
    revoke: (latchkey, { keyId }) => latchkey.deleteKey({ keyId }),
    type: "key.deleted",
    codes: ["NOT_FOUND"],
  },
  {
    name: "updateKey({ enabled: false })",
    revoke: (latchkey, { keyId }) => latchkey.updateKey({ keyId, enabled: false }),
    type: "key.updated",
    // What is damaged besides the key is met only by a process that has not read it before.
    codes: ["DISABLED", "STORE_CORRUPT"],
  },
  {
    name: "deleteKeys",
    revoke: (latchkey, { apiId }) => latchkey.deleteKeys({ apiId }),
    type: "key.deleted",
    codes: ["NOT_FOUND"],
  },
  {
    name: "deleteApi",
    revoke: (latchkey, { apiId }) => latchkey.deleteApi({ apiId }),
    type: "key.deleted",
    codes: ["NOT_FOUND"],
  },
];

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

  /** The same, with every setting. */
  async function full() {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables", ipWhitelist: ["192.0.2.1"] });
    const limit = { limit: 3, duration: 1_000 };
    const { identityId } = await latchkey.createIdentity({
      externalId: "pier-7",
      meta: { berth: 4 },
      remaining: 3,
      refill: { interval: "daily", amount: 3 },
      ratelimits: [{ name: "all", ...limit }],
    });
    await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createRole({ name: "pilot" });
    const { key, keyId } = await latchkey.createKey({
      apiId,
      externalId: "pier-7",
      name: "north pier",
      meta: { berth: 4 },
      expires: context.now() + 60_000,
      remaining: 3,
      refill: { interval: "monthly", amount: 3, refillDay: 31 },
      ratelimit: limit,
      environment: "live",
      roles: ["pilot"],
      permissions: ["tides.read"],
    });
    const other = context.another();
    expect(await other.verifyKey({ key, ipAddress: "192.0.2.1" })).toMatchObject({ valid: true });
    return { ...context, other, apiId, identityId, key, keyId };
  }

  describe.each(DAMAGES)("with $kind", ({ damage }) => {
    for (const { kind, idOf } of TARGETS)
      describe(`of the ${kind}`, () => {
        test("admits nobody, in no process: the key fails closed", async () => {
          const fixture = await warm();
          await damage(fixture.store, kind, idOf(fixture));
          for (const latchkey of [fixture.latchkey, fixture.another()])
            expect(await rejectionOf(latchkey.verifyKey({ key: fixture.key }))).toMatchObject({
              code: "STORE_CORRUPT",
            });
        });

        test.each(REVOCATIONS)(
          "does not stop $name, which every process sees",
          async (revocation) => {
            const { revoke, type, codes } = revocation;
            const fixture = await warm();
            const { latchkey, key, keyId } = fixture;
            await damage(fixture.store, kind, idOf(fixture));
            await revoke(latchkey, fixture);
            for (const one of [latchkey, fixture.other, fixture.another()])
              expect(codes).toContain(await codeOf(one, key));
            const { events } = await latchkey.listAuditEvents({ keyId, limit: 1 });
            expect(events).toMatchObject([{ type, resourceId: keyId, keyId }]);
            expect(JSON.stringify(events)).not.toContain("broken");
          },
        );
      });

    test("is that of a key which has left its list once it was deleted", async () => {
      const fixture = await warm();
      const { latchkey, apiId, keyId } = fixture;
      await damage(fixture.store, "key", keyId);
      expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 1, damaged: 1 });
      await latchkey.deleteKey({ keyId });
      expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 0 });
      expect(await rejectionOf(latchkey.deleteKey({ keyId }))).toMatchObject({ code: "NOT_FOUND" });
    });

    test("is that of an identity which can be deleted: its keys live on, and its name is free", async () => {
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
        { type: "identity.deleted", resourceId: identityId, changes: [] },
      ]);
      const again = await latchkey.createIdentity({ externalId: "pier-7" });
      expect(again.identityId).not.toBe(identityId);
    });

    test("is that of a root key which can be revoked, and authorises nothing from then on", async () => {
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
    });
  });

  test("is that of an API without its protection: it is deleted with its keys", async () => {
    const fixture = await warm();
    const { latchkey, apiId, keyId, store } = fixture;
    await damageBody(store, "api", apiId, () => null);
    expect(await latchkey.listApis()).toEqual({ apis: [], total: 1, damaged: 1 });
    await latchkey.deleteApi({ apiId });
    expect(await latchkey.listApis()).toEqual({ apis: [], total: 0 });
    expect((await store.read("ws_default", [{ kind: "key", id: keyId }])).found).toEqual([null]);
  });

  test("does not stop a revocation, whichever member of its body is spoilt", async () => {
    const spoilt = { spoilt: true };
    const members = new Set<string>();
    for (const kind of ["key", "api", "identity"] as const)
      for (let at = 0, count = 1; at < count; at += 1) {
        const fixture = await full();
        const { latchkey, other, store, key, keyId } = fixture;
        const id = { key: keyId, api: fixture.apiId, identity: fixture.identityId }[kind];
        await damageBody(store, kind, id, (body) => {
          const names = Object.keys(body);
          count = names.length;
          members.add(`${kind}.${names[at]}`);
          return { ...body, [names[at] as string]: spoilt };
        });
        await latchkey.updateKey({ keyId, enabled: false });
        expect(await codeOf(other, key)).not.toBe("VALID");
        await latchkey.deleteKey({ keyId });
        for (const one of [latchkey, other, fixture.another()])
          expect(await one.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
      }
    for (const member of ["key.hash", "key.refill", "api.name", "identity.externalId"])
      expect(members).toContain(member);
  });

  test("of a switched off key stays off for a process that knew the key when it was new", async () => {
    const fixture = await warm();
    const { latchkey, keyId, key, store, other } = fixture;
    const [, unreadable] = DAMAGES;
    await unreadable.damage(store, "key", keyId);
    await latchkey.updateKey({ keyId, enabled: false });
    // The stored version was lost, and began anew where no process has been.
    expect(await other.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ enabled: false });
  });

  test("is skipped in every list, and counted there; what comes after it is listed", async () => {
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

  test("of a role or permission is skipped in the lists of these, which are answered whole", async () => {
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

/** The verdict on a secret, or the code of the error there was instead. */
async function codeOf(latchkey: Latchkey, key: string): Promise<string | undefined> {
  try {
    return (await latchkey.verifyKey({ key })).code;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

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
