import type { Latchkey } from "@latchkey/core";
import { expect } from "vitest";
import { DAMAGES, type Damage, damageBody, damagesOfMembers } from "../damage.js";
import { expectRefused, type TestContext } from "../test-context.js";
import type { Journey } from "./journey.js";

/**
 * Revoking damaged records: deleteKey, updateKey, deleteKeys, deleteApi, deleteIdentity, revokeRootKey, setWorkspaceEnabled.
 * And findApiOfKey, which decides whether a caller limited to one API may do so.
 */
export const DAMAGED_RECORDS: Journey = {
  resource: "damaged records",
  title:
    "admit nobody who reads them, are revoked like any other for every process, and are counted in lists",
  async run(alone) {
    // One other process for all parts. It has read the records of each part before they are damaged.
    const other = alone.another();
    const context = { ...alone, other };
    for (const { damage } of DAMAGES) {
      await keys(context, damage);
      await apis(context, damage);
      await identities(context, damage);
      await rootKeys(context, damage);
      await workspaces(context, damage);
    }
    await keyOfAnotherApi(context);
    for (const apiId of ["no id", "\u0000", "x".repeat(10_000)])
      await keys(context, (store, kind, id) =>
        damageBody(store, kind, id, (body) => ({ ...body, apiId })),
      );
    const { rootKeyId } = await context.latchkey.createRootKey({
      permissions: ["*"],
      name: "deploy",
      expires: context.now() + 1_000,
    });
    for (const { damage } of await damagesOfMembers(context.store, "rootKey", rootKeyId))
      await spoiltRootKey(context, damage);
  },
};

type Overwrite = Damage["damage"];

interface Context extends TestContext {
  readonly other: Latchkey;
}

async function keys(context: Context, damage: Overwrite) {
  const { latchkey, store, other } = context;
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const made = [];
  for (let count = 0; count < 3; count += 1) made.push(await latchkey.createKey({ apiId }));
  for (const { key, keyId } of made) {
    expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
    expect(await other.findApiOfKey({ keyId })).toBe(apiId);
    await damage(store, "key", keyId);
    expect(await other.findApiOfKey({ keyId })).toBeNull();
  }
  await expectRefused("BAD_REQUEST", [other.findApiOfKey({ keyId: "" })]);
  const fresh = context.another({ store });
  for (const { key } of made) await expectRefused("STORE_CORRUPT", [fresh.verifyKey({ key })]);
  expect(await other.listKeys({ apiId })).toEqual({ keys: [], total: 3, damaged: 3 });
  const [deleted, disabled] = made.map(({ keyId }) => keyId);
  await latchkey.deleteKey({ keyId: deleted ?? "" });
  expect((await other.listKeys({ apiId })).total).toBe(2);
  await latchkey.updateKey({ keyId: disabled ?? "", enabled: false });
  expect(await outcomeOf(other.verifyKey({ key: made[1]?.key ?? "" }))).not.toBe("VALID");
  expect(await latchkey.deleteKeys({ apiId })).toEqual({ deletedKeys: 2 });
  for (const { key } of made)
    expect(await other.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
}

/** A key whose record names a missing API. The record alone does not show whether that API was deleted. */
async function keyOfAnotherApi(context: Context) {
  const { latchkey, store, other } = context;
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const made = [await latchkey.createKey({ apiId }), await latchkey.createKey({ apiId })];
  for (const { key, keyId } of made) {
    expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
    const damagedId = `${apiId.slice(0, -1)}${apiId.endsWith("A") ? "B" : "A"}`;
    await damageBody(store, "key", keyId, (body) => ({ ...body, apiId: damagedId }));
    expect(await context.another({ store }).verifyKey({ key })).toMatchObject({
      code: "NOT_FOUND",
    });
    await expectRefused("STORE_CORRUPT", [latchkey.getKey({ keyId }), other.getKey({ keyId })]);
  }
  expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 2, damaged: 2 });
  const [deleted, disabled] = made.map(({ keyId }) => keyId);
  await latchkey.deleteKey({ keyId: deleted ?? "" });
  await latchkey.updateKey({ keyId: disabled ?? "", enabled: false });
  for (const { key } of made)
    expect(await other.verifyKey({ key })).toMatchObject({ code: "NOT_FOUND" });
  expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 1, damaged: 1 });
  expect(await latchkey.deleteKeys({ apiId })).toEqual({ deletedKeys: 1 });
  expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 0 });
  await latchkey.deleteApi({ apiId });
}

async function apis(context: Context, damage: Overwrite) {
  const { latchkey, store, other } = context;
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const made = [await latchkey.createKey({ apiId }), await latchkey.createKey({ apiId })];
  for (const { key } of made) expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
  const { total } = await latchkey.listApis();
  await damage(store, "api", apiId);
  expect(await latchkey.listApis()).toMatchObject({ total, damaged: 1 });
  const [first] = made;
  expect(await latchkey.findApiOfKey({ keyId: first?.keyId ?? "" })).toBe(apiId);
  await latchkey.deleteKey({ keyId: first?.keyId ?? "" });
  expect(await other.verifyKey({ key: first?.key ?? "" })).toMatchObject({ code: "NOT_FOUND" });
  await latchkey.deleteApi({ apiId });
  for (const { key } of made)
    expect(await other.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
  expect((await latchkey.listApis()).total).toBe(total - 1);
}

async function identities(context: Context, damage: Overwrite) {
  const { latchkey, store, other } = context;
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { identityId } = await latchkey.createIdentity({ externalId: "pier-7" });
  const revoked = await latchkey.createKey({ apiId, externalId: "pier-7" });
  const kept = await latchkey.createKey({ apiId, externalId: "pier-7" });
  for (const { key } of [revoked, kept])
    expect(await other.verifyKey({ key })).toMatchObject({ valid: true, ownerId: "pier-7" });
  await damage(store, "identity", identityId);
  await expectRefused("STORE_CORRUPT", [context.another({ store }).verifyKey({ key: kept.key })]);
  expect(await latchkey.listIdentities()).toEqual({ identities: [], total: 1, damaged: 1 });
  await latchkey.deleteKey({ keyId: revoked.keyId });
  expect(await other.verifyKey({ key: revoked.key })).toMatchObject({ code: "NOT_FOUND" });
  await latchkey.deleteIdentity({ identityId });
  expect(await other.verifyKey({ key: kept.key })).not.toHaveProperty("identity");
  const again = await other.createIdentity({ externalId: "pier-7" });
  await latchkey.deleteIdentity({ identityId: again.identityId });
}

async function rootKeys(context: Context, damage: Overwrite) {
  const { latchkey, store, other } = context;
  const { key, rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
  expect(await other.authenticateRootKey(key)).toMatchObject({ rootKeyId });
  await damage(store, "rootKey", rootKeyId);
  expect(await other.listRootKeys()).toEqual({ rootKeys: [], total: 1, damaged: 1 });
  await latchkey.revokeRootKey({ rootKeyId });
  expect(await other.authenticateRootKey(key)).toEqual({ kind: "refused" });
}

async function spoiltRootKey({ latchkey, store }: TestContext, damage: Overwrite) {
  const { key, rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
  await damage(store, "rootKey", rootKeyId);
  await latchkey.revokeRootKey({ rootKeyId });
  expect(await latchkey.authenticateRootKey(key)).toEqual({ kind: "refused" });
}

async function workspaces(context: Context, damage: Overwrite) {
  const { latchkey, store } = context;
  const { workspaceId } = await latchkey.createWorkspace({ name: "Tide Office" });
  const [made, other] = [latchkey, context.other].map((one) => one.workspace(workspaceId));
  if (made === undefined || other === undefined) throw new Error("two were made");
  const { apiId } = await made.createApi({ name: "tide tables" });
  const { key } = await made.createKey({ apiId });
  expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
  await damage(store, "workspace", workspaceId, workspaceId);
  await made.setWorkspaceEnabled(false);
  for (const by of [made, other])
    expect(await by.verifyKey({ key })).toMatchObject({ valid: false, code: "FORBIDDEN" });
  const { events } = await made.listAuditEvents({ limit: 1 });
  expect(events).toMatchObject([{ type: "workspace.disabled", unreadable: true }]);
}

/** The code of a verdict, or of the error instead. */
async function outcomeOf(call: Promise<{ readonly code: string }>): Promise<unknown> {
  try {
    return (await call).code;
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}
