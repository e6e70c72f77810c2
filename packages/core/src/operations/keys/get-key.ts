import { z } from "zod";
import type { OperationContext } from "../context.js";
import { flag, id, parseInput } from "../input.js";
import { getKeyById } from "./load.js";
import { withPlaintext } from "./recovery.js";
import { type KeyView, toKeyView } from "./view.js";

/** Input of getKey. */
export interface GetKeyInput {
  /** Id of the key. */
  readonly keyId: string;
  /** Whether the secret of a recoverable key is answered, too: false unless given. Needs a vault. */
  readonly decrypt?: boolean | null | undefined;
}

/** Schema of the input of getKey. */
export const getKeyInput = z.strictObject({ keyId: id, decrypt: flag.nullish() });

/** @see KeyOperations.getKey */
export async function getKey(context: OperationContext, input: GetKeyInput): Promise<KeyView> {
  const { keyId, decrypt } = parseInput(getKeyInput, input);
  const loaded = await getKeyById(context, keyId);
  const view = toKeyView(loaded, context.now());
  return decrypt === true ? withPlaintext(context, loaded, view) : view;
}
