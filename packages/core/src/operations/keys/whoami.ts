import { z } from "zod";
import { notFound, type OperationContext } from "../context.js";
import { parseInput, presentedSecret } from "../input.js";
import { findKeyBySecret } from "./load.js";
import { type KeyView, toKeyView } from "./view.js";

/** Input of whoami. `key`: the presented secret, 1 to 512 characters. */
export const whoamiInput = z.strictObject({ key: presentedSecret });

/** What whoami answers about a key. Fields without a value are absent. */
export interface KeySummary
  extends Pick<
    KeyView,
    "id" | "name" | "remaining" | "identity" | "meta" | "createdAt" | "enabled" | "environment"
  > {}

/**
 * Finds the key of a secret, without a verdict: nothing is charged, and a key that is switched off, expired or
 * exhausted is answered too, as not `enabled`.
 *
 * @throws LatchkeyError `NOT_FOUND` when no key of this workspace has the secret.
 */
export async function whoami(
  context: OperationContext,
  input: z.input<typeof whoamiInput>,
): Promise<KeySummary> {
  const { key: secret } = parseInput(whoamiInput, input);
  const loaded = await findKeyBySecret(context, secret);
  if (loaded === null) throw notFound("key");
  const view = toKeyView(loaded, context.now());
  const { id, name, remaining, identity, meta, createdAt, enabled, environment } = view;
  return {
    id,
    ...(name !== undefined && { name }),
    ...(remaining !== undefined && { remaining }),
    ...(identity !== undefined && { identity }),
    ...(meta !== undefined && { meta }),
    createdAt,
    enabled,
    ...(environment !== undefined && { environment }),
  };
}
