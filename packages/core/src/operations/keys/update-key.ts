import { z } from "zod";
import type { OperationContext } from "../context.js";
import { withoutReadableRecord } from "../damaged.js";
import {
  evenWithIssues,
  expiryIssues,
  externalId,
  flag,
  id,
  keyRatelimit,
  metadata,
  namedKeyRatelimits,
  parseInput,
  refill,
  text,
  usesFrom,
  wholeNumber,
} from "../input.js";
import { changeKey, disableDamagedKey } from "./change.js";
import { permissionList, roleList } from "./grant-input.js";
import type { KeyUpdate } from "./plan-update.js";
import { addSecondDefaultIssue } from "./settings.js";

/**
 * Input of updateKey: an omitted field is left as it is, null clears it. `roles` and `permissions` replace the whole
 * set, an empty list clears it; an item names one by `id` or `name`, and with `create: true` a missing name is made in
 * the same write. `expires` in Unix epoch ms, later than now; `remaining` >= 0, null for unlimited, which also takes away
 * the refill. `ratelimits` replaces all named limits; `ratelimit` sets or clears the one named `default`, which may be among
 * them only as the same. `enabled` and `usesFrom` are never null.
 */
export const updateKeyInput = z
  .strictObject({
    keyId: id,
    name: text(1, 256).nullish(),
    ownerId: externalId.nullish(),
    externalId: externalId.nullish(),
    meta: metadata.nullish(),
    expires: wholeNumber(1).nullish(),
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

/**
 * Changes the configuration of a key in one atomic, guarded write. The next verification, from any process, sees it.
 *
 * A key whose record, API or identity is damaged can still be switched off: revoking needs no readable record.
 *
 * A key that was rotated dies at its expiry for good: it can be put forward, not off. While a key takes its uses
 * from its identity its own count is at rest, and goes on as it was when the key has its own again.
 *
 * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` when a role or permission does not exist, when an exhausted key
 * is enabled without a new `remaining`, for a later expiry of a rotated key, and for `remaining` or `refill` of a key that
 * takes its uses from its identity; `BAD_REQUEST` for a refill of a key without `remaining` and for a key that shall take its uses from an
 * identity that it does not have. Nothing is written then.
 */
export async function updateKey(
  context: OperationContext,
  input: z.input<typeof updateKeyInput>,
): Promise<Record<string, never>> {
  const now = context.now();
  const { keyId, ...wanted } = parseInput(updateKeyInput, input, (raw) => expiryIssues(raw, now));
  const change = () => changeKey(context, keyId, () => wanted);
  if (switchesOffOnly(wanted))
    await withoutReadableRecord(change, () => disableDamagedKey(context, keyId));
  else await change();
  return {};
}

/** Whether `enabled: false` is the whole update. */
function switchesOffOnly({ enabled, ...others }: KeyUpdate): boolean {
  return enabled === false && Object.values(others).every((value) => value === undefined);
}
