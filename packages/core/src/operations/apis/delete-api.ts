import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { deleteAllKeys } from "../keys/delete-all.js";
import { apiFacts } from "./view.js";

/** Input of deleteApi. */
export const deleteApiInput = z.strictObject({ apiId: id });

/**
 * Deletes an API. Its keys stop verifying with the first, short step, however many there are; they are then removed in
 * bounded steps, and the call resolves when all are gone. Should it fail on the way, what is left of them is dead all the
 * same, and calling again removes it.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API, `DELETE_PROTECTED`; nothing is deleted then.
 */
export async function deleteApi(
  context: OperationContext,
  input: z.input<typeof deleteApiInput>,
): Promise<Record<string, never>> {
  const { apiId } = parseInput(deleteApiInput, input);
  const api = await context.store.getApi(context.workspaceId, apiId);
  const changes = [
    noteChange(context, {
      type: "api.deleted",
      at: context.now(),
      resourceId: apiId,
      ...(api !== null && { before: apiFacts(api) }),
    }),
  ];
  const outcome = await context.store.deleteApi(
    context.workspaceId,
    apiId,
    toLog(context, changes),
  );
  if (outcome === "protected")
    throw new LatchkeyError(
      "DELETE_PROTECTED",
      "this API is protected: set deleteProtection to false with updateApi first",
    );
  if (outcome === "deleted") announce(context, changes);
  const deletedKeys = await deleteAllKeys(context, apiId);
  if (outcome === "not-found" && deletedKeys === 0) throw notFound("API");
  return {};
}
