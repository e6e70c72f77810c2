import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import type { ApiPatch } from "../../store/wide-store.js";
import { notFound, type OperationContext, untilFresh } from "../context.js";
import { id, parseInput } from "../input.js";
import { apiName, deleteProtection, ipWhitelist } from "./settings.js";
import { apiFacts } from "./view.js";

/**
 * Input of updateApi: an omitted field is left as it is. `ipWhitelist` replaces the whole list, at most 1,000 addresses and
 * CIDR ranges; an empty list or null clears it.
 */
export const updateApiInput = z.strictObject({
  apiId: id,
  name: apiName.optional(),
  deleteProtection: deleteProtection.optional(),
  ipWhitelist: ipWhitelist.nullish(),
});

/**
 * Changes an API in one guarded write. The next verification of any of its keys, from any process, sees it.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
 */
export async function updateApi(
  context: OperationContext,
  input: z.input<typeof updateApiInput>,
): Promise<Record<string, never>> {
  const { apiId, ...wanted } = parseInput(updateApiInput, input);
  const { store, workspaceId } = context;
  const patch: ApiPatch = {
    name: wanted.name,
    deleteProtection: wanted.deleteProtection,
    ipWhitelist: wanted.ipWhitelist === null ? [] : wanted.ipWhitelist,
  };
  const isEmpty = Object.values(patch).every((field) => field === undefined);
  return untilFresh(async () => {
    const api = await store.getApi(workspaceId, apiId);
    if (api === null) throw notFound("API");
    if (isEmpty) return {};
    const changes = [
      noteChange(context, {
        type: "api.updated",
        at: context.now(),
        resourceId: apiId,
        before: apiFacts(api),
        after: apiFacts({
          name: patch.name ?? api.name,
          deleteProtection: patch.deleteProtection ?? api.deleteProtection,
          ipWhitelist: patch.ipWhitelist ?? api.ipWhitelist,
        }),
      }),
    ];
    const outcome = await store.updateApi(
      workspaceId,
      apiId,
      api.version,
      patch,
      toLog(context, changes),
    );
    if (outcome === "stale") return "stale";
    if (outcome === "not-found") throw notFound("API");
    announce(context, changes);
    return {};
  });
}
