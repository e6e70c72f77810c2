import { z } from "zod";
import type { OperationContext } from "../context.js";
import { flag, id, parseInput } from "../input.js";
import { getKeyById } from "./load.js";
import { withPlaintext } from "./recovery.js";
import { type KeyView, toKeyView } from "./view.js";

/** Input of getKey. `decrypt` adds the secret of a recoverable key. */
export const getKeyInput = z.strictObject({ keyId: id, decrypt: flag.nullish() });

/**
 * Answers one key as listings show it.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` for `decrypt` without a
 * vault.
 */
export async function getKey(
  context: OperationContext,
  input: z.input<typeof getKeyInput>,
): Promise<KeyView> {
  const { keyId, decrypt } = parseInput(getKeyInput, input);
  const loaded = await getKeyById(context, keyId);
  const view = toKeyView(loaded, context.now());
  return decrypt === true ? withPlaintext(context, loaded, view) : view;
}
