import { z } from "zod";
import { labelsOf } from "../../records/key-labels.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { withCheckedMeta } from "../checked-meta.js";
import { withoutReadableRecord } from "../damaged.js";
import {
  evenWithIssues,
  externalId,
  flag,
  id,
  metadata,
  parseInput,
  refill,
  text,
  usesFrom,
  wholeNumber,
} from "../input.js";
import { keyRatelimit, namedKeyRatelimits } from "../limit-input.js";
import type { Run } from "../run.js";
import { expiryIssues, instant } from "../time-input.js";
import { changeKey, disableDamagedKey } from "./change.js";
import { type GrantItem, permissionList, roleList } from "./grant-input.js";
import type { KeyOperations } from "./operations.js";
import type { KeyUpdate } from "./plan-update.js";
import { addSecondDefaultIssue } from "./settings.js";

/** Schema of the input of updateKey. */
export const updateKeyInput = z
  .strictObject({
    keyId: id,
    ...labelsOf((_, { length }) => text(...length).nullish()),
    ownerId: externalId.nullish(),
    externalId: externalId.nullish(),
    meta: metadata.nullish(),
    expires: instant(1).nullish(),
    remaining: wholeNumber(0).nullish(),
    refill: refill.nullish(),
    ratelimit: keyRatelimit.nullish(),
    ratelimits: namedKeyRatelimits.nullish(),
    usesFrom: usesFrom.optional(),
    enabled: flag.optional(),
    roles: roleList.optional(),
    permissions: permissionList.optional(),
  })
  .superRefine(addSecondDefaultIssue, evenWithIssues);

/** @see KeyOperations.updateKey */
export const updateKey: Run<KeyOperations["updateKey"]> = async (context, input) => {
  const now = context.now();
  const parsed = parseInput(updateKeyInput, input, (raw) => expiryIssues(raw, now));
  const { keyId, ...wanted } = await withCheckedMeta(context.keyMeta, parsed);
  const change = () => changeKey(context, keyId, (loaded) => withoutThoseOfRoles(loaded, wanted));
  if (switchesOffOnly(wanted))
    await withoutReadableRecord(change, () => disableDamagedKey(context, keyId));
  else await change();
  return {};
};

/** The update without the names of permissions that the key has through roles alone, where it keeps all its roles. */
function withoutThoseOfRoles(loaded: LoadedKey, update: KeyUpdate): KeyUpdate {
  const { direct, permissions } = loaded;
  const given = new Set<GrantItem>(update.roles ?? loaded.roles);
  if (!update.permissions || !loaded.roles.every((name) => given.has(name))) return update;
  const throughRoles = new Set<GrantItem>(permissions);
  for (const { name } of direct.permissions) throughRoles.delete(name);
  return { ...update, permissions: update.permissions.filter((item) => !throughRoles.has(item)) };
}

/** Whether `enabled: false` is the whole update. */
function switchesOffOnly({ enabled, ...others }: KeyUpdate): boolean {
  return enabled === false && Object.values(others).every((value) => value === undefined);
}
