import type { ChangeCase } from "./fixture.js";

/** Changes of APIs. */
export const API_CASES: readonly ChangeCase[] = [
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
    title: "ensureApi",
    operation: "ensureApi",
    run: async (latchkey) => {
      await latchkey.ensureApi({ name: "harbour gates" });
      return [{ type: "api.created", fields: { name: [undefined, "harbour gates"] } }];
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
    run: async (latchkey, { apiId, keyId, identityId }) => {
      await latchkey.deleteApi({ apiId });
      return [
        {
          type: "api.deleted",
          fields: { name: ["tide tables", undefined] },
        },
        { type: "key.deleted", keyId, identityId, fields: { apiId: [apiId, undefined] } },
      ];
    },
  },
];
