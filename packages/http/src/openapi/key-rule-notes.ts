import { ofEach } from "./path-table.js";

export const GIVEN_DURATION =
  "Length of a window: a whole number of ms, or a whole number of seconds, minutes, hours or days, such as `30s`, `1m`, `1h` or `1d`. Windows are aligned to the Unix epoch.";

/** Notes by path within an operation. */
const NOTES: Readonly<Record<string, string>> = {
  "ceilings.maxExpiresIn":
    "Longest time until a key expires; a key that never expires is above it.",
  "ceilings.maxKeysPerIdentity":
    "Maximum number of keys of one identity; disabled ones count, rotated ones do not.",
  "ceilings.maxRatelimit":
    "Maximum of the limit named `default`; a key without that limit is above it.",
  "ceilings.maxRatelimit.duration": GIVEN_DURATION,
  "ceilings.maxRemaining":
    "Maximum number of uses, also after a refill; a key without `remaining` is above it.",
  "ceilings.permissions":
    "Names and wildcards that must cover every direct permission of a key. Permissions of its roles beyond them do not count for the key.",
  "defaults.expiresIn": "How long a key lives from its creation or its `startsAt`.",
  "defaults.permissions": "Names of direct permissions; they must exist when a key is created.",
  "defaults.prefix": "First part of the secret, before its `_`.",
  "defaults.ratelimit": "The limit named `default`.",
  "defaults.ratelimit.duration": GIVEN_DURATION,
  "defaults.ratelimits": "Limits by name.",
  "defaults.ratelimits.duration": GIVEN_DURATION,
  "defaults.remaining": "Number of uses.",
};

/** Notes on the defaults of an API, which new keys get unless they state something else, and on its ceilings. */
export const NOTES_ON_KEY_RULES: Readonly<Record<string, string>> = ofEach(
  ["apis.createApi", "apis.updateApi"],
  NOTES,
);
