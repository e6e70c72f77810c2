import { NOON } from "../test-context.js";
import type { ChangeCase, ChangeFixture } from "./fixture.js";

/** All fields of the fixture's key, as its deletion logs them. */
const WHOLE_KEY = ({ apiId }: ChangeFixture) =>
  ({
    apiId: [apiId, undefined],
    name: ["north", undefined],
    externalId: ["pier-7", undefined],
    roles: [["pilot"], undefined],
    recoverable: [true, undefined],
  }) as const;

/** Changes of keys. */
export const KEY_CASES: readonly ChangeCase[] = [
  {
    title: "createKey, with an identity that it creates",
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
      const limit = { limit: 3, duration: 1_000 };
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
    title: "createKey, with a role and a permission that it creates",
    operation: "createKey",
    run: async (latchkey, { apiId }) => {
      const grants = { roles: ["warden"], permissions: ["buoys.move"] };
      const { keyId } = await latchkey.createKey({ apiId, ...grants, create: true });
      return [
        { type: "role.created", fields: { name: [undefined, "warden"] } },
        { type: "permission.created", fields: { name: [undefined, "buoys.move"] } },
        {
          type: "key.created",
          keyId,
          fields: {
            apiId: [undefined, apiId],
            roles: [undefined, grants.roles],
            permissions: [undefined, grants.permissions],
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
            remaining: [10, 7],
            roles: [["pilot"], undefined],
          },
        },
      ];
    },
  },
  {
    title: "updateKeys",
    operation: "updateKeys",
    isUnordered: true,
    run: async (latchkey, { apiId, keyId, identityId }) => {
      const other = await latchkey.createKey({ apiId, name: "south" });
      const keyIds = [keyId, other.keyId, keyId];
      await latchkey.updateKeys({ keyIds, name: "south", environment: "test" });
      const environment = [undefined, "test"] as const;
      return [
        {
          type: "key.created",
          keyId: other.keyId,
          fields: { apiId: [undefined, apiId], name: [undefined, "south"] },
        },
        {
          type: "key.updated",
          keyId,
          identityId,
          fields: { name: ["north", "south"], environment },
        },
        { type: "key.updated", keyId: other.keyId, fields: { environment } },
      ];
    },
  },
  {
    title: "disableKeys and enableKeys",
    operation: "disableKeys",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.disableKeys({ identityId });
      await latchkey.disableKeys({ identityId });
      await latchkey.enableKeys({ keyIds: [keyId] });
      return [
        { type: "key.updated", keyId, identityId, fields: { enabled: [true, false] } },
        { type: "key.updated", keyId, identityId, fields: { enabled: [false, true] } },
      ];
    },
  },
  {
    title: "enableKeys",
    operation: "enableKeys",
    run: async (latchkey, { apiId }) => {
      const { keyId } = await latchkey.createKey({ apiId, enabled: false });
      await latchkey.enableKeys({ apiId });
      return [
        {
          type: "key.created",
          keyId,
          fields: { apiId: [undefined, apiId], enabled: [undefined, false] },
        },
        { type: "key.updated", keyId, fields: { enabled: [false, true] } },
      ];
    },
  },
  {
    title: "updateKey, with a role that it creates",
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
      return [{ type: "key.updated", keyId, identityId, fields: { remaining: [10, 3] } }];
    },
  },
  {
    title: "updateRemaining, raising",
    operation: "updateRemaining",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.updateRemaining({ keyId, op: "increment", value: 5 });
      return [{ type: "key.updated", keyId, identityId, fields: { remaining: [10, 15] } }];
    },
  },
  {
    title: "updateRemaining, lowering",
    operation: "updateRemaining",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.updateRemaining({ keyId, op: "decrement", value: 5 });
      return [{ type: "key.updated", keyId, identityId, fields: { remaining: [10, 5] } }];
    },
  },
  {
    title: "updateRemaining, to no limit",
    operation: "updateRemaining",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.updateRemaining({ keyId, op: "set", value: null });
      return [{ type: "key.updated", keyId, identityId, fields: { remaining: [10, undefined] } }];
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
    run: async (latchkey, fixture) => {
      const { keyId, identityId } = fixture;
      await latchkey.deleteKey({ keyId });
      return [{ type: "key.deleted", keyId, identityId, fields: WHOLE_KEY(fixture) }];
    },
  },
  {
    title: "deleteKeys",
    operation: "deleteKeys",
    isUnordered: true,
    run: async (latchkey, { apiId, keyId, identityId }) => {
      const other = await latchkey.createKey({ apiId });
      await latchkey.deleteKeys({ apiId });
      const fields = { apiId: [apiId, undefined] } as const;
      return [
        {
          type: "key.created",
          keyId: other.keyId,
          fields: {
            apiId: [undefined, apiId],
          },
        },
        { type: "key.deleted", keyId, identityId, fields },
        { type: "key.deleted", keyId: other.keyId, fields },
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
    title: "reportLeaks",
    operation: "reportLeaks",
    run: async (latchkey, { keyId, key, identityId }) => {
      const leaks = [{ key, url: `https://code.example/${key}`, source: "commit" }];
      await latchkey.reportLeaks({ leaks });
      return [
        { type: "key.updated", keyId, identityId, fields: { enabled: [true, false] } },
        {
          type: "key.leaked",
          keyId,
          identityId,
          fields: {
            action: [undefined, "disabled"],
            url: [undefined, "https://code.example/…"],
            source: [undefined, "commit"],
          },
        },
      ];
    },
  },
];
