import type { Latchkey } from "@latchkey/core";
import { issue, type TestContext, VAULT_KEYS } from "../test-context.js";

/** One of everything that can be changed. */
export interface ChangeFixture {
  readonly apiId: string;
  readonly keyId: string;
  readonly key: string;
  readonly identityId: string;
  readonly permissionId: string;
  readonly otherPermissionId: string;
  readonly roleId: string;
  readonly rootKeyId: string;
}

/** One change as events and the audit log show it: what was changed, and its fields before and after. */
export interface ExpectedChange {
  readonly type: string;
  readonly keyId?: string;
  readonly identityId?: string;
  /** Name → before and after; undefined: absent. */
  readonly fields: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

/** One way to change something, and its events in order. */
export interface ChangeCase {
  readonly title: string;
  /** The name of the operation. */
  readonly operation: keyof Latchkey;
  /** Makes the change, and returns the expected events. */
  readonly run: (latchkey: Latchkey, fixture: ChangeFixture) => Promise<readonly ExpectedChange[]>;
  /** The events come in any order. */
  readonly isUnordered?: true;
  /** The change is logged in another workspace, which the case itself names. */
  readonly isElsewhere?: true;
}

const RING = { a: VAULT_KEYS[0], earlier: VAULT_KEYS[0].map((byte) => byte + 100) };

/** A vault, so that secrets can be recoverable. */
export const WITH_VAULT = { vault: { current: "a", keys: RING } };

/** The same vault, before its current key was added. */
export const WITH_EARLIER_VAULT = { vault: { current: "earlier", keys: RING } };

/** Creates one of everything. */
export async function makeChangeFixture(context: TestContext): Promise<ChangeFixture> {
  const { latchkey } = context;
  const { permissionId } = await latchkey.createPermission({ name: "tides.read" });
  const { permissionId: otherPermissionId } = await latchkey.createPermission({
    name: "gates.open",
    description: "to open gates",
  });
  const { roleId } = await latchkey.createRole({ name: "pilot", permissions: ["tides.read"] });
  const { identityId } = await latchkey.createIdentity({ externalId: "pier-7" });
  const { apiId, keyId, key } = await issue(context, {
    name: "north",
    externalId: "pier-7",
    remaining: 10,
    roles: ["pilot"],
    recoverable: true,
  });
  const { rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
  return {
    apiId,
    keyId,
    key,
    identityId,
    permissionId,
    otherPermissionId,
    roleId,
    rootKeyId,
  };
}
