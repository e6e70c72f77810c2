import { OPERATIONS as CORE_OPERATIONS } from "@latchkey/core";
import { z } from "zod";
import { API_ID, KEY_ID, START } from "../operations/examples.js";
import type { Operation } from "../operations/operation.js";
import { dataBody, pageBody, paginationOf } from "./bodies.js";
import { changedKey, fieldsOf, newKey, page } from "./fields.js";
import { defineV2 } from "./operation.js";
import { empty, key, toKey } from "./views.js";

const { apiId } = newKey;
const newApi = fieldsOf(CORE_OPERATIONS.createApi.input);

/** Operations on an API and on all of its keys. */
export const APIS: readonly Operation[] = [
  defineV2("apis.createApi", {
    input: z.strictObject({ name: newApi.name }),
    response: dataBody(z.strictObject({ apiId: z.string() })),
    example: { input: { name: "payments" }, response: { data: { apiId: API_ID } } },
  }),
  defineV2("apis.getApi", {
    input: z.strictObject({ apiId }),
    response: dataBody(z.strictObject({ id: z.string(), name: z.string() })),
    example: { input: { apiId: API_ID }, response: { data: { id: API_ID, name: "payments" } } },
    run: async ({ carryOut }, input) => {
      const { id, name } = await carryOut(input);
      return { data: { id, name } };
    },
  }),
  defineV2("apis.listKeys", {
    description: "One page, in the order of creation. `decrypt` needs `decrypt_key`, too.",
    input: z.strictObject({
      apiId,
      ...page,
      externalId: newKey.externalId,
      decrypt: changedKey.enabled,
      revalidateKeysCache: changedKey.enabled,
    }),
    response: pageBody(key),
    example: {
      input: { apiId: API_ID, limit: 2 },
      response: {
        data: [
          {
            keyId: KEY_ID,
            start: "acme_EXAM",
            enabled: true,
            createdAt: START,
            permissions: ["docs.read"],
            roles: [],
          },
        ],
        pagination: { hasMore: false },
      },
    },
    run: async ({ carryOut }, input) => {
      const { keys, ...info } = await carryOut(input);
      return { data: keys.map(toKey), pagination: paginationOf(info) };
    },
  }),
  defineV2("apis.deleteApi", {
    description: "Its keys become invalid at once.",
    input: z.strictObject({ apiId }),
    response: dataBody(empty),
    example: { input: { apiId: API_ID }, response: { data: {} } },
  }),
];
