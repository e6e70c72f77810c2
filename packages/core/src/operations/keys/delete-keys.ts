import { z } from "zod";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { deleteAllKeys } from "./delete-all.js";

/** Input of deleteKeys. */
export interface DeleteKeysInput {
  /** Id of the API whose keys are deleted. */
  readonly apiId: string;
}

/** Schema of the input of deleteKeys. */
export const deleteKeysInput = z.strictObject({ apiId: id });

/** What deleteKeys has deleted. */
export interface DeletedKeys {
  /** How many keys this call deleted. */
  readonly deletedKeys: number;
}

/** @see KeyOperations.deleteKeys */
export async function deleteKeys(
  context: OperationContext,
  input: DeleteKeysInput,
): Promise<DeletedKeys> {
  const { apiId } = parseInput(deleteKeysInput, input);
  const { found } = await context.store.read(context.workspaceId, [{ kind: "api", id: apiId }]);
  if (found[0] === null) throw notFound("API");
  return { deletedKeys: await deleteAllKeys(context, apiId) };
}
