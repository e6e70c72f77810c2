import { keyType } from "../../records/key.js";
import type { OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { parseInput } from "../input.js";
import { type GetKeyInput, getKeyInput } from "./get-key.js";

/** Schema of the input of findApiOfKey. */
export const findApiOfKeyInput = getKeyInput.pick({ keyId: true });

/** @see KeyOperations.findApiOfKey */
export async function findApiOfKey(
  { store, workspaceId }: OperationContext,
  input: Pick<GetKeyInput, "keyId">,
): Promise<string | null> {
  const { keyId } = parseInput(findApiOfKeyInput, input);
  const { found } = await store.read(workspaceId, [{ kind: "key", id: keyId }]);
  const [loaded = null] = found;
  return loaded && (decodeOrNull(keyType, loaded.record, workspaceId)?.apiId ?? null);
}
