import { z } from "zod";
import { type ApiRecord, apiType } from "../../records/api.js";
import { type OperationContext, transact } from "../context.js";
import { parseInput } from "../input.js";
import { apiName, deleteProtection, ipWhitelist } from "./settings.js";
import { apiFields } from "./view.js";

/**
 * Input of createApi: a name of 3 to 256 characters. `deleteProtection` is false and `ipWhitelist`, at most 1,000 addresses and
 * CIDR ranges, is empty unless given.
 */
export const createApiInput = z.strictObject({
  name: apiName,
  deleteProtection: deleteProtection.optional(),
  ipWhitelist: ipWhitelist.optional(),
});

/** Creates a key space. */
export async function createApi(
  context: OperationContext,
  input: z.input<typeof createApiInput>,
): Promise<{ readonly apiId: string }> {
  const parsed = parseInput(createApiInput, input);
  const now = context.now();
  const api: ApiRecord = {
    id: context.newId("api"),
    workspaceId: context.workspaceId,
    name: parsed.name,
    deleteProtection: parsed.deleteProtection ?? false,
    ipWhitelist: parsed.ipWhitelist ?? [],
    createdAt: now,
    version: 1,
  };
  await transact(context, async (transaction, audit) => {
    transaction.insert(apiType, api);
    audit({ type: "api.created", at: now, resourceId: api.id, after: apiFields(api) });
  });
  return { apiId: api.id };
}
