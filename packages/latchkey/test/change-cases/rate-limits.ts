import type { ChangeCase } from "./fixture.js";

/** Changes of the windows of rate limits. */
export const RATE_LIMIT_CASES: readonly ChangeCase[] = [
  {
    title: "resetLimit, of a key",
    operation: "resetLimit",
    run: async (latchkey, { keyId, identityId }) => {
      await latchkey.resetLimit({ keyId, name: "writes", duration: 1_000 });
      return [
        { type: "ratelimit.reset", keyId, identityId, fields: { name: ["writes", undefined] } },
      ];
    },
  },
  {
    title: "resetLimit, of an identity",
    operation: "resetLimit",
    run: async (latchkey) => {
      const ratelimits = [{ name: "reads", limit: 3, duration: 1_000 }];
      const { identityId } = await latchkey.createIdentity({ externalId: "pier-9", ratelimits });
      await latchkey.resetLimit({ identityId, name: "reads" });
      return [
        {
          type: "identity.created",
          identityId,
          fields: {
            externalId: [undefined, "pier-9"],
            ratelimits: [undefined, ratelimits],
          },
        },
        { type: "ratelimit.reset", identityId, fields: { name: ["reads", undefined] } },
      ];
    },
  },
  {
    title: "resetLimit, of a namespace",
    operation: "resetLimit",
    run: async (latchkey) => {
      await latchkey.resetLimit({ namespace: "mail", identifier: "customer_42", duration: 1_000 });
      return [{ type: "ratelimit.reset", fields: { name: ["customer_42", undefined] } }];
    },
  },
];
