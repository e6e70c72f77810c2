import { z } from "zod";
import { keyView } from "./keys.js";
import { listOf, metadata, pageEnd, pageInfo, shared, whole } from "./shared.js";

/** Response of apis.createApi. */
export const createdApi = z.strictObject({ apiId: z.string() });

/** Response of apis.ensureApi. */
export const ensuredApi = createdApi.extend({ created: z.boolean() });

/** Response of apis.getApi, and an API in a list. */
export const api = shared(
  "Api",
  z.strictObject({
    id: z.string(),
    name: z.string(),
    workspaceId: z.string(),
    deleteProtection: z.literal(true).optional(),
    ipWhitelist: listOf(z.string()).optional(),
    defaults: metadata.optional(),
    ceilings: metadata.optional(),
  }),
);

/** Response of apis.listApis: a page in the order of creation. */
export const apiList = z.strictObject({ apis: listOf(api), ...pageEnd });

/** Response of apis.listKeys and keys.listKeys. `total` only for an API without filters, `scanned` only with filters or an order. */
export const keyList = z.strictObject({
  keys: listOf(keyView),
  total: pageEnd.total.optional(),
  scanned: whole().optional(),
  ...pageInfo,
});

/** Response of apis.deleteKeys. */
export const deletedKeys = z.strictObject({ deletedKeys: whole() });

/** Response of apis.disableKeys. */
export const disabledKeys = z.strictObject({ disabledKeys: whole() });

/** Response of apis.enableKeys. */
export const enabledKeys = z.strictObject({ enabledKeys: whole(), damaged: whole(1).optional() });
