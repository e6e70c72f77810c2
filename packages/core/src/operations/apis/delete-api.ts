import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import { apiType } from "../../records/api.js";
import { notFound, type OperationContext, transact } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { id, parseInput } from "../input.js";
import { deleteAllKeys } from "../keys/delete-all.js";
import { apiFields } from "./view.js";

/** Input of deleteApi. */
export interface DeleteApiInput {
  /** Id of the API. */
  readonly apiId: string;
}

/** Schema of the input of deleteApi. */
export const deleteApiInput = z.strictObject({ apiId: id });

/** @see ApiOperations.deleteApi */
export async function deleteApi(
  context: OperationContext,
  input: DeleteApiInput,
): Promise<Record<string, never>> {
  const { apiId } = parseInput(deleteApiInput, input);
  const isDeleted = await deleteRecord(context, apiId);
  const deletedKeys = await deleteAllKeys(context, apiId);
  if (!isDeleted && deletedKeys === 0) throw notFound("API");
  return {};
}

/** @returns Whether there was such an API. */
async function deleteRecord(context: OperationContext, apiId: string): Promise<boolean> {
  const { workspaceId } = context;
  const { answer } = await transact(context, async (transaction, audit) => {
    const found = await transaction.readOne({ kind: "api", id: apiId, expects: "nothing" });
    if (found === null) return false;
    const { record, handle } = found;
    const api = decodeOrNull(apiType, record, workspaceId);
    if (api?.deleteProtection === true)
      throw new LatchkeyError(
        "DELETE_PROTECTED",
        "this API is protected: set deleteProtection to false with updateApi first",
      );
    const version = api === null ? "exists" : api.version;
    transaction.expect({ kind: "api", id: apiId, version, handle });
    transaction.deleteAddress({ kind: "api", id: apiId }, [], [{ list: "api" }]);
    transaction.raiseRevision();
    audit({
      type: "api.deleted",
      at: context.now(),
      resourceId: apiId,
      ...(api === null ? { unreadable: true } : { before: apiFields(api) }),
    });
    return true;
  });
  return answer;
}
