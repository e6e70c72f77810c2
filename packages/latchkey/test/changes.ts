import type { Latchkey } from "@latchkey/core";
import { issue, NOON, type TestBed, VAULT_KEYS } from "./every-store.js";

/** Everything that can be changed, made beforehand. */
export interface ChangeScene {
  readonly apiId: string;
  readonly keyId: string;
  readonly key: string;
  readonly identityId: string;
  readonly permissionId: string;
  readonly otherPermissionId: string;
  readonly roleId: string;
  readonly rootKeyId: string;
}

/** One change as it is to be told: of what, and the fields before and after. */
export interface ExpectedChange {
  readonly type: string;
  readonly keyId?: string;
  readonly identityId?: string;
  /** Name → before and after; undefined: absent. */
  readonly fields: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

/** One way to change something, and all that is to be told of it, in order. */
export interface ChangeCase {
  readonly title: string;
  /** The name of the operation. */
  readonly operation: keyof Latchkey;
  /** Does it, and answers what it must tell. */
  readonly run: (latchkey: Latchkey, scene: ChangeScene) => Promise<readonly ExpectedChange[]>;
  /** Told in any order. */
  readonly isUnordered?: true;
  /** The workspace in whose log it stands, given by the case itself. */
  readonly isElsewhere?: true;
}

/** A vault, so that secrets can be kept readable. */
export const WITH_VAULT = { vault: { current: "a", keys: { a: VAULT_KEYS[0] } } };

/** Makes one of everything. */
export async function makeChangeScene(bed: TestBed): Promise<ChangeScene> {
  const { latchkey } = bed;
  const { permissionId } = await latchkey.createPermission({ name: "tides.read" });
  const { permissionId: otherPermissionId } = await latchkey.createPermission({
    name: "gates.open",
    description: "to open gates",
  });
  const { roleId } = await latchkey.createRole({ name: "pilot", permissions: ["tides.read"] });
  const { identityId } = await latchkey.createIdentity({ externalId: "pier-7" });
  const { apiId, keyId, key } = await issue(bed, {
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

/** Of the key of the scene, when it is deleted: all that it was. */
const WHOLE_KEY = ({ apiId }: ChangeScene) =>
  ({
    apiId: [apiId, undefined],
    name: ["north", undefined],
    externalId: ["pier-7", undefined],
    enabled: [true, undefined],
    usesFrom: ["key", undefined],
    roles: [["pilot"], undefined],
    recoverable: [true, undefined],
  }) as const;

/** At least one way to call each operation that changes something. A test holds that none is forgotten. */
export const CHANGE_CASES: readonly ChangeCase[] = [
  {
    title: "createApi",
    operation: "createApi",
    run: async (latchkey) => {
      await latchkey.createApi({ name: "harbour gates", ipWhitelist: ["192.0.2.0/24"] });
      return [
        {
          type: "api.created",
          fields: {
            name: [undefined, "harbour gates"],
            ipWhitelist: [undefined, ["192.0.2.0/24"]],
          },
        },
      ];
    },
  },
  {
    title: "updateApi",
    operation: "updateApi",
    run: async (latchkey, { apiId }) => {
      await latchkey.updateApi({ apiId, name: "tides and currents", deleteProtection: true });
      return [
        {
          type: "api.updated",
          fields: {
            name: ["tide tables", "tides and currents"],
            deleteProtection: [undefined, true],
          },
        },
      ];
    },
  },
  {
    title: "deleteApi, with its keys",
    operation: "deleteApi",
    run: async (latchkey, { apiId, keyId }) => {
      await latchkey.deleteApi({ apiId });
      return [
        {
          type: "api.deleted",
          fields: { name: ["tide tables", undefined] },
        },
        { type: "key.deleted", keyId, fields: { apiId: [apiId, undefined] } },
      ];
    },
  },
  {
    title: "createKey, with an identity made on demand",
    operation: "createKey",
    run: async (latchkey, { apiId }) => {
      const { keyId } = await latchkey.createKey({
        apiId,
        externalId: "pier-8",
        remaining: 5,
        refill: { interval: "daily", amount: 5 },
        expires: NOON + 60_000,
        permissions: ["gates.open"],
        environment: "test",
        meta: { berth: 4 },
        ratelimit: { limit: 3, duration: 1_000 },
      });
      const identityId = (await latchkey.getIdentity({ externalId: "pier-8" })).id;
      const limit = {
        name: "default",
        limit: 3,
        duration: 1_000,
        autoApply: true,
        async: false,
      };
      return [
        { type: "identity.created", identityId, fields: { externalId: [undefined, "pier-8"] } },
        {
          type: "key.created",
          keyId,
          identityId,
          fields: {
            apiId: [undefined, apiId],
            externalId: [undefined, "pier-8"],
            meta: [undefined, { berth: 4 }],
            expires: [undefined, NOON + 60_000],
            enabled: [undefined, true],
            usesFrom: [undefined, "key"],
            remaining: [undefined, 5],
            refill: [undefined, { interval: "daily", amount: 5 }],
            ratelimits: [undefined, [limit]],
            environment: [undefined, "test"],
            permissions: [undefined, ["gates.open"]],
          },
        },
      ];
    },
  },
  {
    title: "createKeys",
    operation: "createKeys",
    run: async (latchkey, { apiId }) => {
      const { keyIds } = await latchkey.createKeys([
        { apiId, plaintext: "an imported secret of some length" },
        { apiId, hash: { value: "ab".repeat(32), variant: "sha256_hex" } },
      ]);
      return keyIds.map((keyId) => ({
        type: "key.created",
        keyId,
        fields: {
          apiId: [undefined, apiId],
          enabled: [undefined, true],
          usesFrom: [undefined, "key"],
        },
      }));
    },
  },
  {
    title: "updateKey",
    operation: "updateKey",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.updateKey({ keyId, name: null, enabled: false, remaining: 7, roles: [] });
      return [
        {
          type: "key.updated",
          keyId,
          identityId,
          fields: {
            name: ["north", undefined],
            enabled: [true, false],
            remaining: [undefined, 7],
            roles: [["pilot"], undefined],
          },
        },
      ];
    },
  },
  {
    title: "updateKey, making a role on demand",
    operation: "updateKey",
    run: async (latchkey, { keyId, identityId }) => {
      const roles = [{ name: "pilot" }, { name: "warden", create: true }];
      await latchkey.updateKey({ keyId, roles });
      return [
        { type: "role.created", fields: { name: [undefined, "warden"] } },
        {
          type: "key.updated",
          keyId,
          identityId,
          fields: { roles: [["pilot"], ["pilot", "warden"]] },
        },
      ];
    },
  },
  {
    title: "updateRemaining",
    operation: "updateRemaining",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.updateRemaining({ keyId, op: "set", value: 3 });
      return [{ type: "key.updated", keyId, identityId, fields: { remaining: [undefined, 3] } }];
    },
  },
  {
    title: "rotateKey",
    operation: "rotateKey",
    run: async (latchkey, { apiId, keyId, identityId }) => {
      const successor = await latchkey.rotateKey({ keyId, graceMs: 60_000 });
      return [
        {
          type: "key.rotated",
          keyId,
          identityId,
          fields: {
            rotatedTo: [undefined, successor.keyId],
            expires: [undefined, latchkey.now() + 60_000],
          },
        },
        {
          type: "key.created",
          keyId: successor.keyId,
          identityId,
          fields: {
            apiId: [undefined, apiId],
            name: [undefined, "north"],
            externalId: [undefined, "pier-7"],
            enabled: [undefined, true],
            usesFrom: [undefined, "key"],
            roles: [undefined, ["pilot"]],
            recoverable: [undefined, true],
            rotatedFrom: [undefined, keyId],
          },
        },
      ];
    },
  },
  {
    title: "deleteKey",
    operation: "deleteKey",
    run: async (latchkey, scene) => {
      const { keyId, identityId } = scene;
      await latchkey.deleteKey({ keyId });
      return [{ type: "key.deleted", keyId, identityId, fields: WHOLE_KEY(scene) }];
    },
  },
  {
    title: "deleteKey, permanently",
    operation: "deleteKey",
    run: async (latchkey, scene) => {
      const { keyId, identityId } = scene;
      await latchkey.deleteKey({ keyId, permanent: true });
      return [{ type: "key.deleted", keyId, identityId, fields: WHOLE_KEY(scene) }];
    },
  },
  {
    title: "deleteKeys",
    operation: "deleteKeys",
    isUnordered: true,
    run: async (latchkey, { apiId, keyId }) => {
      const other = await latchkey.createKey({ apiId });
      await latchkey.deleteKeys({ apiId });
      const fields = { apiId: [apiId, undefined] } as const;
      return [
        {
          type: "key.created",
          keyId: other.keyId,
          fields: {
            apiId: [undefined, apiId],
            enabled: [undefined, true],
            usesFrom: [undefined, "key"],
          },
        },
        { type: "key.deleted", keyId, fields },
        { type: "key.deleted", keyId: other.keyId, fields },
      ];
    },
  },
  ...(["addRoles", "setRoles"] as const).map(
    (operation): ChangeCase => ({
      title: operation,
      operation,
      run: async (latchkey, { keyId, identityId }) => {
        const roles = [{ name: "pilot" }, { name: "warden", create: true }];
        await latchkey[operation]({ keyId, roles });
        return [
          { type: "role.created", fields: { name: [undefined, "warden"] } },
          {
            type: "key.updated",
            keyId,
            identityId,
            fields: { roles: [["pilot"], ["pilot", "warden"]] },
          },
        ];
      },
    }),
  ),
  {
    title: "removeRoles",
    operation: "removeRoles",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.removeRoles({ keyId, roles: ["pilot"] });
      return [
        { type: "key.updated", keyId, identityId, fields: { roles: [["pilot"], undefined] } },
      ];
    },
  },
  ...(["addPermissions", "setPermissions"] as const).map(
    (operation): ChangeCase => ({
      title: operation,
      operation,
      run: async (latchkey, { keyId, identityId }) => {
        await latchkey[operation]({ keyId, permissions: ["gates.open"] });
        return [
          {
            type: "key.updated",
            keyId,
            identityId,
            fields: { permissions: [undefined, ["gates.open"]] },
          },
        ];
      },
    }),
  ),
  {
    title: "removePermissions",
    operation: "removePermissions",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.addPermissions({ keyId, permissions: ["gates.open"] });
      await latchkey.removePermissions({ keyId, permissions: ["gates.open"] });
      const about = { type: "key.updated", keyId, identityId };
      return [
        { ...about, fields: { permissions: [undefined, ["gates.open"]] } },
        { ...about, fields: { permissions: [["gates.open"], undefined] } },
      ];
    },
  },
  {
    title: "reencryptKeys",
    operation: "reencryptKeys",
    run: async (latchkey, { apiId }) => {
      await latchkey.reencryptKeys({ apiId });
      return [];
    },
  },
  {
    title: "createIdentity",
    operation: "createIdentity",
    run: async (latchkey) => {
      const { identityId } = await latchkey.createIdentity({
        externalId: "pier-9",
        meta: { berth: 9 },
        ratelimits: [{ name: "reads", limit: 3, duration: 1_000 }],
        remaining: 4,
      });
      return [
        {
          type: "identity.created",
          identityId,
          fields: {
            externalId: [undefined, "pier-9"],
            meta: [undefined, { berth: 9 }],
            ratelimits: [undefined, [{ name: "reads", limit: 3, duration: 1_000 }]],
            remaining: [undefined, 4],
          },
        },
      ];
    },
  },
  {
    title: "updateIdentity",
    operation: "updateIdentity",
    run: async (latchkey, { identityId }) => {
      await latchkey.updateIdentity({ identityId, meta: { berth: 1 }, remaining: 5 });
      return [
        {
          type: "identity.updated",
          identityId,
          fields: { meta: [undefined, { berth: 1 }], remaining: [undefined, 5] },
        },
      ];
    },
  },
  {
    title: "deleteIdentity",
    operation: "deleteIdentity",
    run: async (latchkey, { identityId }) => {
      await latchkey.deleteIdentity({ identityId });
      return [
        {
          type: "identity.deleted",
          identityId,
          fields: { externalId: ["pier-7", undefined] },
        },
      ];
    },
  },
  {
    title: "createPermission",
    operation: "createPermission",
    run: async (latchkey) => {
      await latchkey.createPermission({ name: "buoys.move" });
      return [{ type: "permission.created", fields: { name: [undefined, "buoys.move"] } }];
    },
  },
  {
    title: "deletePermission",
    operation: "deletePermission",
    run: async (latchkey, { otherPermissionId }) => {
      await latchkey.deletePermission({ permissionId: otherPermissionId });
      return [
        {
          type: "permission.deleted",
          fields: {
            name: ["gates.open", undefined],
            description: ["to open gates", undefined],
          },
        },
      ];
    },
  },
  {
    title: "createRole",
    operation: "createRole",
    run: async (latchkey) => {
      await latchkey.createRole({ name: "warden", permissions: ["gates.open"] });
      return [
        {
          type: "role.created",
          fields: { name: [undefined, "warden"], permissions: [undefined, ["gates.open"]] },
        },
      ];
    },
  },
  {
    title: "setRolePermissions",
    operation: "setRolePermissions",
    run: async (latchkey, { roleId }) => {
      await latchkey.setRolePermissions({ roleId, permissions: ["gates.open"] });
      return [{ type: "role.updated", fields: { permissions: [["tides.read"], ["gates.open"]] } }];
    },
  },
  {
    title: "deleteRole",
    operation: "deleteRole",
    run: async (latchkey, { roleId }) => {
      await latchkey.deleteRole({ roleId });
      return [
        {
          type: "role.deleted",
          fields: { name: ["pilot", undefined], permissions: [["tides.read"], undefined] },
        },
      ];
    },
  },
  {
    title: "createRootKey",
    operation: "createRootKey",
    run: async (latchkey) => {
      await latchkey.createRootKey({ permissions: ["api.*.create_key"], name: "issuer" });
      return [
        {
          type: "root_key.created",
          fields: {
            name: [undefined, "issuer"],
            permissions: [undefined, ["api.*.create_key"]],
          },
        },
      ];
    },
  },
  {
    title: "revokeRootKey",
    operation: "revokeRootKey",
    run: async (latchkey, { rootKeyId }) => {
      await latchkey.revokeRootKey({ rootKeyId });
      return [{ type: "root_key.revoked", fields: {} }];
    },
  },
  {
    title: "createWorkspace",
    operation: "createWorkspace",
    isElsewhere: true,
    run: async (latchkey) => {
      await latchkey.createWorkspace({ name: "north sea" });
      return [
        {
          type: "workspace.created",
          fields: { name: [undefined, "north sea"], enabled: [undefined, true] },
        },
      ];
    },
  },
  {
    title: "setWorkspaceEnabled, off and on again",
    operation: "setWorkspaceEnabled",
    run: async (latchkey) => {
      await latchkey.setWorkspaceEnabled(false);
      await latchkey.setWorkspaceEnabled(true);
      return [
        { type: "workspace.disabled", fields: {} },
        { type: "workspace.enabled", fields: {} },
      ];
    },
  },
];

/** What of a latchkey changes no configuration: reads, verifications, counters, and what it is itself. */
export const CHANGES_NOTHING: ReadonlySet<string> = new Set<keyof Latchkey>([
  "workspaceId",
  "now",
  "workspace",
  "actingAs",
  "getApi",
  "listApis",
  "verifyKey",
  "whoami",
  "getKey",
  "listKeys",
  "getIdentity",
  "listIdentities",
  "getPermission",
  "listPermissions",
  "getRole",
  "listRoles",
  "listRootKeys",
  "authenticateRootKey",
  "limit",
  "getVerifications",
  "pruneVerifications",
  "listAuditEvents",
  "pruneAuditEvents",
  "isWorkspaceEnabled",
  "close",
]);
