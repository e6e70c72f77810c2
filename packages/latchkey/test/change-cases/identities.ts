import type { ChangeCase } from "./fixture.js";

/** Changes of identities. */
export const IDENTITY_CASES: readonly ChangeCase[] = [
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
    title: "updateRemaining of an identity, by its external id",
    operation: "updateRemaining",
    run: async (latchkey, { identityId }) => {
      await latchkey.updateRemaining({ externalId: "pier-7", op: "set", value: 3 });
      return [{ type: "identity.updated", identityId, fields: { remaining: [undefined, 3] } }];
    },
  },
  {
    title: "deleteIdentity, with its keys",
    operation: "deleteIdentity",
    run: async (latchkey, { identityId, keyId, apiId }) => {
      await latchkey.deleteIdentity({ identityId, keys: "delete" });
      return [
        { type: "key.deleted", keyId, identityId, fields: { apiId: [apiId, undefined] } },
        {
          type: "identity.deleted",
          identityId,
          fields: { externalId: ["pier-7", undefined] },
        },
      ];
    },
  },
  {
    title: "eraseIdentity",
    operation: "eraseIdentity",
    run: async (latchkey, { identityId, keyId, apiId }) => {
      await latchkey.eraseIdentity({ externalId: "pier-7" });
      return [
        { type: "key.deleted", keyId, identityId, fields: { apiId: [apiId, undefined] } },
        { type: "identity.deleted", identityId, fields: {} },
        { type: "identity.erased", identityId, fields: {} },
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
];
