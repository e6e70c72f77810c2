import type { KeysReference, RepeatableInput } from "@latchkey/core";
import type { KnownKey } from "../history.js";
import type { Random } from "../random.js";
import type { KnownWorkspace } from "../world/beginning.js";
import type { World } from "../world/world.js";
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

/** The keys that were drawn for `updateKeys`: of those with which the workspace began. */
export function pickedKeys(
  { keys, plan }: World,
  workspace: number,
  picks: readonly number[],
): readonly KnownKey[] {
  const own = keys.slice(0, plan.keys.length).filter((key) => key.workspace === workspace);
  return [...new Set(own.length === 0 ? [] : picks.map((pick) => own[pick % own.length]))].filter(
    (key) => key !== undefined,
  );
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
  eraseOwner: inWorkspace(
    1,
    (random) => ({ ...theFirstOwner(random), isById: random.chance(50) }),
    (latchkey, { identityIds }, { isById, idempotencyKey }) =>
      latchkey.eraseIdentity({
        ...(isById ? { identityId: identityIds[0] as string } : { externalId: "user_0" }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      }),
  ),
  updateKeys: inWorkspace(
    2,
    (random) => ({
      picks: [random.below(9), random.below(9)],
      ...(random.chance(50) ? { enabled: false } : { name: `name ${random.below(3)}` }),
    }),
    (latchkey, own, { picks, ...args }, world) => {
      const keys = pickedKeys(world, world.workspaces.indexOf(own), picks);
      const keyIds = keys.length === 0 ? ["key_of_nobody"] : keys.map(({ keyId }) => keyId);
      return latchkey.updateKeys({ keyIds, ...args });
    },
  ),
  disableOwner: inWorkspace(1, theFirstOwner, (latchkey, { identityIds }, { idempotencyKey }) =>
    latchkey.deleteIdentity({
      identityId: identityIds[0] as string,
      keys: "disable",
      idempotencyKey,
    }),
  ),
} as const;
