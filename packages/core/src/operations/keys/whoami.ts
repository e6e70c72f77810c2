import { z } from "zod";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import { notFound, type OperationContext } from "../context.js";
import { parseInput, presentedSecret } from "../input.js";
import { findKeyBySecret } from "./load.js";
import { type KeyView, toKeyView } from "./view.js";

/** Input of whoami. */
export interface WhoamiInput {
  /** The presented secret: 1 to 512 characters. */
  readonly key: string;
}

/** Schema of the input of whoami. */
export const whoamiInput = z.strictObject({ key: presentedSecret });

/** What whoami answers about a key. Fields without a value are absent. */
export interface KeySummary<Types extends LatchkeyTypes = DefaultTypes>
  extends Pick<
    KeyView<Types>,
    "id" | "name" | "remaining" | "identity" | "meta" | "createdAt" | "enabled" | "environment"
  > {}

/** @see SecretOperations.whoami */
export async function whoami(context: OperationContext, input: WhoamiInput): Promise<KeySummary> {
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
