import { z } from "zod";
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
  const apiId = context.newId("api");
  await context.store.insertApi({
    id: apiId,
    workspaceId: context.workspaceId,
    name,
    createdAt: context.now(),
  });
  return { apiId };
}
