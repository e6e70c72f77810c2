import type { KeysReference, RepeatableInput } from "@latchkey/core";
import type { Random } from "../random.js";
import type { KnownWorkspace } from "../world/beginning.js";
import { inWorkspace, sometimesRepeatable } from "./action.js";

/** Which keys an action is about: those of the API, of an owner, or of an owner in the API. */
export interface ManyKeysArgs extends RepeatableInput {
  readonly isOfApi: boolean;
  /** Index of the identity; null: any owner, or none. */
  readonly owner: number | null;
}

function someKeys(random: Random): ManyKeysArgs {
  const owner = random.pick([null, 0, 0, 1]);
  const isOfApi = owner === null || random.chance(30);
  return { isOfApi, owner, ...sometimesRepeatable(random) };
}

function theFirstOwner(random: Random): ManyKeysArgs {
  return { isOfApi: false, owner: 0, ...sometimesRepeatable(random) };
}

function inputOf(
  { apiId }: KnownWorkspace,
  { isOfApi, owner, ...repeatable }: ManyKeysArgs,
): KeysReference & RepeatableInput {
  return {
    ...(isOfApi && { apiId }),
    ...(owner !== null && { externalId: `user_${owner}` }),
    ...repeatable,
  };
}

/** Actions on many keys at once, which read lists and write in several steps. */
export const MANY_KEYS_ACTIONS = {
  deleteKeys: inWorkspace(2, someKeys, (latchkey, own, args) =>
    latchkey.deleteKeys(inputOf(own, args)),
  ),
  disableKeys: inWorkspace(3, someKeys, (latchkey, own, args) =>
    latchkey.disableKeys(inputOf(own, args)),
  ),
  enableKeys: inWorkspace(3, someKeys, (latchkey, own, args) =>
    latchkey.enableKeys(inputOf(own, args)),
  ),
  deleteOwner: inWorkspace(1, theFirstOwner, (latchkey, { identityIds }, { idempotencyKey }) =>
    latchkey.deleteIdentity({
      identityId: identityIds[0] as string,
      keys: "delete",
      idempotencyKey,
    }),
  ),
  disableOwner: inWorkspace(1, theFirstOwner, (latchkey, { identityIds }, { idempotencyKey }) =>
    latchkey.deleteIdentity({
      identityId: identityIds[0] as string,
      keys: "disable",
      idempotencyKey,
    }),
  ),
} as const;
