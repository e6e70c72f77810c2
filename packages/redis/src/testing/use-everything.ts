import { createLatchkey, type KeyStore } from "@latchkey/core";
import { expect } from "vitest";

/** Text of a user, which no name of a Redis key may contain. */
const USER_TEXT = "harbour office {tidewaters}";

/** The duration of every limit: its counters must still exist when a busy machine comes to look at them. */
export const LIMIT_MS = 600_000;

/** Leaves one of everything that a workspace can hold: engine/names.ts lists the names. */
export async function useEverything(store: KeyStore, workspaceId: string) {
  const latchkey = createLatchkey({ store, workspaceId }).actingAs(USER_TEXT);
  const { apiId } = await latchkey.createApi({ name: USER_TEXT });
  await latchkey.updateApi({ apiId, name: "payments" });
  const { permissionId } = await latchkey.createPermission({ name: "docs.read" });
  const { roleId } = await latchkey.createRole({ name: "reader", permissions: ["docs.read"] });
  await latchkey.setRolePermissions({ roleId, permissions: ["docs.read"] });
  const { rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
  const duration = LIMIT_MS;
  const shared = [{ name: "shared", limit: 5, duration, autoApply: true }];
  await latchkey.createIdentity({ externalId: USER_TEXT, remaining: 9, ratelimits: shared });
  await latchkey.updateIdentity({ externalId: USER_TEXT, meta: { plan: "pro" } });
  const { keyId, key } = await latchkey.createKey({
    apiId,
    externalId: USER_TEXT,
    remaining: 5,
    meta: { text: "m".repeat(100) },
    roles: ["reader"],
    permissions: ["docs.read"],
    ratelimit: { limit: 5, duration },
  });
  const ratelimits = [{ name: USER_TEXT, limit: 5, duration }];
  const verify = (secret: string) =>
    latchkey.verifyKey({ key: secret, ratelimits, requestId: USER_TEXT });
  expect((await verify(key)).valid).toBe(true);
  await latchkey.updateKey({ keyId, name: USER_TEXT, environment: "test" });
  const successor = await latchkey.rotateKey({ keyId, graceMs: 60_000 });
  expect((await verify(successor.key)).valid).toBe(true);
  await latchkey.updateKey({ keyId: successor.keyId, usesFrom: "identity" });
  expect((await verify(successor.key)).valid).toBe(true);
  const taken = { namespace: "email", identifier: USER_TEXT, limit: 5, duration };
  expect((await latchkey.limit(taken)).success).toBe(true);
  const slot = { name: "parallel", limit: 2, duration: 1_000, algorithm: "concurrent" } as const;
  const reserve = () => latchkey.reserve({ key: successor.key, ratelimits: [...ratelimits, slot] });
  expect((await reserve()).valid).toBe(true);
  const settled = await reserve();
  if (settled.valid) await latchkey.settle({ reservationId: settled.reservationId });
  await countOne(store, workspaceId, keyId);
  return { latchkey, apiId, permissionId, roleId, rootKeyId, keyId, successor };
}

async function countOne(store: KeyStore, workspaceId: string, keyId: string): Promise<void> {
  const subject = { kind: "key", id: keyId } as const;
  const batch = {
    counts: [{ subject, hourAt: 0, code: "VALID", count: 1 }],
    uses: [{ kind: "key", id: keyId, usedAt: 1 }],
  } as const;
  await store.addStatistics(workspaceId, batch);
}

/** Reads everything that {@link useEverything} left, and deletes it. */
export async function removeEverything(
  store: KeyStore,
  workspaceId: string,
  left: Awaited<ReturnType<typeof useEverything>>,
): Promise<void> {
  const { latchkey, apiId, permissionId, roleId, rootKeyId, keyId } = left;
  expect((await latchkey.listApis({})).apis).toHaveLength(1);
  expect((await latchkey.listKeys({ apiId })).total).toBe(2);
  const { id: identityId } = await latchkey.getIdentity({ externalId: USER_TEXT });
  expect((await latchkey.listIdentities({})).total).toBe(1);
  expect(await latchkey.getRole({ roleId })).toMatchObject({ name: "reader" });
  expect(await latchkey.listRoles()).toHaveLength(1);
  expect(await latchkey.listPermissions()).toHaveLength(1);
  expect((await latchkey.listRootKeys({})).rootKeys).toHaveLength(1);
  const subject = { kind: "key", id: keyId } as const;
  const years = 1_000 * 86_400_000;
  const range = { subject, startAt: 0, endAt: years };
  expect(await store.readStatistics(workspaceId, range)).toHaveLength(1);
  const events = await latchkey.listAuditEvents({ actor: USER_TEXT });
  expect(events.events.length).toBeGreaterThan(5);
  await latchkey.deleteKey({ keyId });
  await latchkey.deleteIdentity({ identityId });
  await latchkey.deleteRole({ roleId });
  await latchkey.deletePermission({ permissionId });
  await latchkey.revokeRootKey({ rootKeyId });
  await latchkey.deleteApi({ apiId });
  expect(await store.deleteStatistics(workspaceId, years, 10)).toMatchObject({ deleted: 1 });
  await latchkey.setWorkspaceEnabled(false);
  // Ids of this instant sort above it.
  const latest = latchkey.now();
  while (latchkey.now() === latest) await new Promise((resolve) => setImmediate(resolve));
  await latchkey.pruneAuditEvents({ before: latest + 1 });
}
