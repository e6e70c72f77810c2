import type { Latchkey } from "@latchkey/core";

/** Ids of an API, key, identity, role and permission, which may or may not exist, and a namespace of limits. */
export interface Fixture {
  readonly apiId: string;
  readonly keyId: string;
  readonly key: string;
  readonly identityId: string;
  readonly externalId: string;
  readonly roleId: string;
  readonly permissionId: string;
  /** Name of the permission. */
  readonly permission: string;
  readonly namespace: string;
  /** Id of a root key with hardly any permissions. */
  readonly rootKeyId: string;
  /** An open reservation of the key. */
  readonly reservationId: string;
}

/** Creates an API, a recoverable key of it and the key's identity, a role and a permission. */
export async function createFixture({
  latchkey,
}: {
  readonly latchkey: Latchkey;
}): Promise<Fixture> {
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const externalId = "user_1";
  const { keyId, key } = await latchkey.createKey({ apiId, externalId, recoverable: true });
  const ratelimits = [{ name: "requests", limit: 10, duration: 60_000 }];
  const { id: identityId } = await latchkey.updateIdentity({ externalId, ratelimits });
  const permission = `docs.${apiId}`;
  const { permissionId } = await latchkey.createPermission({ name: permission });
  const { roleId } = await latchkey.createRole({ name: `reader.${apiId}` });
  const namespace = "mail.v1";
  const held = await latchkey.reserve({ key });
  if (held.code !== "VALID") throw new Error(`the key of the fixture is ${held.code}`);
  const { reservationId } = held;
  // Permissions that callers in the samples hold if they may change root keys.
  const permissions = ["root.*.update_root_key"];
  const { rootKeyId } = await latchkey.createRootKey({ permissions });
  const ids = { rootKeyId, apiId, keyId, key, identityId, roleId, permissionId };
  return { ...ids, externalId, permission, namespace, reservationId };
}
