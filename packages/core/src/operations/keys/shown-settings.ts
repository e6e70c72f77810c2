import { labelsOf } from "../../records/key-labels.js";
import type { LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { KeySettingsInput } from "./settings.js";
import type { KeyView } from "./view.js";

/** What {@link keySettings} gives: fields of the same name in createKey and updateKey. */
export type ShownSettings<Types extends LatchkeyTypes> = Omit<
  KeySettingsInput<Types>,
  "apiId" | "ownerId" | "ratelimit" | "enabled" | "recoverable"
>;

/**
 * The settings in what getKey or listKeys shows, for createKey and updateKey. Left out are what cannot be set, uses that
 * are those of the identity, and `enabled`: it is shown as false also where the key is used up or has expired. Permissions that come
 * through roles are among them: createKey gives them to the new key itself, updateKey passes over them.
 */
export function keySettings<Types extends LatchkeyTypes>(
  shown: KeyView<Types>,
): ShownSettings<Types> {
  const { ownerId: externalId, meta, roles, permissions, expires, ratelimits } = shown;
  const { usesFrom, remaining, refill } = shown;
  const uses = usesFrom === "identity" ? { usesFrom } : { remaining, refill };
  const labels = labelsOf((label) => shown[label]);
  return { ...labels, externalId, meta, roles, permissions, expires, ratelimits, ...uses };
}
