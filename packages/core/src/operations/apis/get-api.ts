import { z } from "zod";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { type ListedApi, toListedApi } from "./view.js";

/** Input of getApi. */
export const getApiInput = z.strictObject({ apiId: id });

/** @throws LatchkeyError `NOT_FOUND` when this workspace has no such API. */
export async function getApi(
  context: OperationContext,
  input: z.input<typeof getApiInput>,
): Promise<ListedApi> {
  const { apiId } = parseInput(getApiInput, input);
  const api = await context.store.getApi(context.workspaceId, apiId);
  if (api === null) throw notFound("API");
  return toListedApi(api);
}
