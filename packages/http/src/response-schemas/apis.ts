import { z } from "zod";
import { keyView } from "./keys.js";
import { listOf, pageEnd, shared, whole } from "./shared.js";

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
  }),
);

/** Response of apis.listApis: a page in the order of creation. */
export const apiList = z.strictObject({ apis: listOf(api), ...pageEnd });

/** Response of apis.listKeys: a page in the order of creation, and the number of all live keys of the API. */
export const keyList = z.strictObject({ keys: listOf(keyView), ...pageEnd });

/** Response of apis.deleteKeys. */
export const deletedKeys = z.strictObject({ deletedKeys: whole() });

/** Response of apis.disableKeys. */
export const disabledKeys = z.strictObject({ disabledKeys: whole() });

/** Response of apis.enableKeys. */
export const enabledKeys = z.strictObject({ enabledKeys: whole(), damaged: whole(1).optional() });
