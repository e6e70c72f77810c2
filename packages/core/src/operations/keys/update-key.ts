import { z } from "zod";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { withCheckedMeta } from "../checked-meta.js";
import type { OperationContext } from "../context.js";
import { withoutReadableRecord } from "../damaged.js";
import type { RefillInput } from "../input.js";
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
import {
  type KeyLimitInput,
  keyRatelimit,
  type NamedKeyLimitInput,
  namedKeyRatelimits,
} from "../limit-input.js";
import { expiryIssues, instant } from "../time-input.js";
import { changeKey, disableDamagedKey } from "./change.js";
import { type GrantInput, type GrantItem, permissionList, roleList } from "./grant-input.js";
import type { KeyUpdate } from "./plan-update.js";
import { addSecondDefaultIssue } from "./settings.js";

/** Input of updateKey: what is omitted stays, null clears. */
export interface UpdateKeyInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** Id of the key. */
  readonly keyId: string;
  /** For people: 1 to 256 characters. */
  readonly name?: string | null | undefined;
  /** Deprecated name of `externalId`, which wins. */
  readonly ownerId?: string | null | undefined;
  /** Your own id of the user that it belongs to, 1 to 255 characters; null: to nobody. An identity that does not exist is created. */
  readonly externalId?: string | null | undefined;
  /** The whole metadata: a JSON object of at most 16 KiB and 16 levels. Checked by `meta` of createLatchkey. */
  readonly meta?: Types["metaInput"] | null | undefined;
  /** Unix epoch ms or a `Date`, later than now; null: never. The expiry of a rotated key cannot be put off. */
  readonly expires?: number | Date | null | undefined;
  /** Uses left: whole and >= 0; null for unlimited, which also takes away the refill. */
  readonly remaining?: number | null | undefined;
  /** How uses are restored; null for not at all. */
  readonly refill?: RefillInput | null | undefined;
  /** The limit named `default`; null removes it. The other limits stay. */
  readonly ratelimit?: KeyLimitInput | null | undefined;
  /** The whole set of limits, at most 50; null or an empty list removes all. A limit that keeps name and duration keeps its window. */
  readonly ratelimits?: readonly NamedKeyLimitInput<Types>[] | null | undefined;
  /** Whose uses it takes: its own, or those that its identity's keys share. */
  readonly usesFrom?: "key" | "identity" | undefined;
  /** Whether it is switched on. `true` is refused for a key without uses left. */
  readonly enabled?: boolean | undefined;
  /** Your own label: at most 256 characters. */
  readonly environment?: string | null | undefined;
  /** All roles that it holds itself: at most 100, by name or id; an empty list clears them. */
  readonly roles?: readonly GrantInput[] | undefined;
  /**
   * All permissions that it holds itself: at most 1,000, by name or id; an empty list clears them. A plain name that it holds
   * through its roles is passed over, so that what getKey shows can be given back; `{ name }` is not.
   */
  readonly permissions?: readonly GrantInput<PermissionName<Types>>[] | undefined;
}

/** Schema of the input of updateKey. */
export const updateKeyInput = z
  .strictObject({
    keyId: id,
    name: text(1, 256).nullish(),
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
    environment: text(0, 256).nullish(),
    roles: roleList.optional(),
    permissions: permissionList.optional(),
  })
  .superRefine(addSecondDefaultIssue, evenWithIssues);

/** @see KeyOperations.updateKey */
export async function updateKey(
  context: OperationContext,
  input: UpdateKeyInput,
): Promise<Record<string, never>> {
  const now = context.now();
  const parsed = parseInput(updateKeyInput, input, (raw) => expiryIssues(raw, now));
  const { keyId, ...wanted } = await withCheckedMeta(context.keyMeta, parsed);
  const change = () => changeKey(context, keyId, (loaded) => withoutThoseOfRoles(loaded, wanted));
  if (switchesOffOnly(wanted))
    await withoutReadableRecord(change, () => disableDamagedKey(context, keyId));
  else await change();
  return {};
}

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
