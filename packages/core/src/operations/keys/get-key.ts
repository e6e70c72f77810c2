import { z } from "zod";
import { notFound, type OperationContext } from "../context.js";
import { flag, id, parseInput } from "../input.js";
import { withPlaintext } from "./recovery.js";
import { type ListedKey, toListedKey } from "./view.js";

/** Input of getKey. `decrypt` adds the secret of a recoverable key. */
export const getKeyInput = z.strictObject({ keyId: id, decrypt: flag.nullish() });

/**
 * Answers one key in its listed form.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` for `decrypt` without a
 * vault.
 */
export async function getKey(
  context: OperationContext,
  input: z.input<typeof getKeyInput>,
): Promise<ListedKey> {
  const { keyId, decrypt } = parseInput(getKeyInput, input);
  const loaded = await context.store.getKey(context.workspaceId, keyId);
  if (loaded === null) throw notFound("key");
  const listed = toListedKey(loaded, context.now());
  return decrypt === true ? withPlaintext(context, loaded, listed) : listed;
}
