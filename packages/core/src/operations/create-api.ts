import { z } from "zod";
import { announce, noteChange, toLog } from "../changes.js";
import type { OperationContext } from "../context.js";
import { parseInput, text } from "../input.js";

/** Input of createApi: a name of 3 to 256 characters. */
export const createApiInput = z.strictObject({ name: text(3, 256) });

/** Makes a key space. */
export async function createApi(
  context: OperationContext,
  input: z.input<typeof createApiInput>,
): Promise<{ readonly apiId: string }> {
  const { name } = parseInput(createApiInput, input);
  const now = context.now();
  const apiId = context.newId("api");
  const api = {
    id: apiId,
    workspaceId: context.workspaceId,
    name,
    deleteProtection: false,
    ipWhitelist: [],
    createdAt: now,
    version: 1,
  };
  const changes = [
    noteChange(context, { type: "api.created", at: now, resourceId: apiId, after: { name } }),
  ];
  await context.store.insertApi(api, toLog(context, changes));
  announce(context, changes);
  return { apiId };
}
