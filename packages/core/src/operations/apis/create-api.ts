import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import type { ApiRecord } from "../../records/api.js";
import type { OperationContext } from "../context.js";
import { parseInput } from "../input.js";
import { apiName, deleteProtection, ipWhitelist } from "./settings.js";
import { apiFacts } from "./view.js";

/**
 * Input of createApi: a name of 3 to 256 characters. `deleteProtection` is false and `ipWhitelist`, at most 1,000 addresses and
 * CIDR ranges, is empty unless given.
 */
export const createApiInput = z.strictObject({
  name: apiName,
  deleteProtection: deleteProtection.optional(),
  ipWhitelist: ipWhitelist.optional(),
});

/** Makes a key space. */
export async function createApi(
  context: OperationContext,
  input: z.input<typeof createApiInput>,
): Promise<{ readonly apiId: string }> {
  const parsed = parseInput(createApiInput, input);
  const now = context.now();
  const apiId = context.newId("api");
  const api: ApiRecord = {
    id: apiId,
    workspaceId: context.workspaceId,
    name: parsed.name,
    deleteProtection: parsed.deleteProtection ?? false,
    ipWhitelist: parsed.ipWhitelist ?? [],
    createdAt: now,
    version: 1,
  };
  const changes = [
    noteChange(context, {
      type: "api.created",
      at: now,
      resourceId: apiId,
      after: apiFacts(api),
    }),
  ];
  await context.store.insertApi(api, toLog(context, changes));
  announce(context, changes);
  return { apiId };
}
