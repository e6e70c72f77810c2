import { z } from "zod";
import { findKeyOf } from "../../verification/key-lookup.js";
import { notFound, type OperationContext } from "../context.js";
import { parseInput, presentedSecret } from "../input.js";
import { type ListedKey, toListedKey } from "./view.js";

/** Input of whoami. `key`: the presented secret, 1 to 512 characters. */
export const whoamiInput = z.strictObject({ key: presentedSecret });

/** What whoami tells of a key. Fields without a value are absent. */
export interface KeySelf
  extends Pick<
    ListedKey,
    "id" | "name" | "remaining" | "identity" | "meta" | "createdAt" | "enabled" | "environment"
  > {}

/**
 * Tells what a secret is the key of, without a verdict: nothing is charged, and a key that is switched off, expired or
 * exhausted is answered too, as not `enabled`.
 *
 * @throws LatchkeyError `NOT_FOUND` when no key of this workspace has the secret.
 */
export async function whoami(
  context: OperationContext,
  input: z.input<typeof whoamiInput>,
): Promise<KeySelf> {
  const { key: secret } = parseInput(whoamiInput, input);
  const loaded = await findKeyOf(context, secret, context.hasher.candidates(secret));
  if (loaded === null) throw notFound("key");
  const listed = toListedKey(loaded, context.now());
  const { id, name, remaining, identity, meta, createdAt, enabled, environment } = listed;
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
