import { DEFAULT_LIMIT } from "../../rules/rate-limit.js";
import { type EpochMs, LAST_INSTANT } from "../../time.js";
import type { KeyRules } from "../apis/key-rules.js";
import { type KeySettings, NONE_FIELDS, type NoneField } from "./settings.js";

/** Settings in which null means none, whatever the API's defaults are. */
export type SettingsOrNone = Omit<KeySettings, NoneField> & {
  readonly [Field in NoneField]?: KeySettings[Field] | null;
};

/** The settings of a new key, with its API's defaults for omitted fields. */
export function withDefaults(
  settings: SettingsOrNone,
  rules: KeyRules | null,
  now: EpochMs,
): KeySettings {
  const usual = rules === null ? {} : defaultsFor(settings, rules, now);
  // Null counts as given, and means none; undefined counts as omitted.
  const given = NONE_FIELDS.filter((field) => settings[field] !== undefined);
  const known = Object.fromEntries(given.map((field) => [field, settings[field] ?? undefined]));
  return { ...settings, ...usual, ...known } as KeySettings;
}

type Defaulted = Partial<Pick<KeySettings, NoneField>>;

function defaultsFor(
  settings: SettingsOrNone,
  { defaults, ceilings }: KeyRules,
  now: EpochMs,
): Defaulted {
  if (defaults === null) return {};
  const { remaining, refill, ratelimit, ratelimits, permissions, environment } = defaults;
  const { expiresIn } = defaults;
  const from = Math.max(now, settings.startsAt ?? 0);
  const usual: { -readonly [Field in keyof Defaulted]: Defaulted[Field] } = {
    ratelimit,
    ratelimits,
    permissions,
    environment,
  };
  if (expiresIn !== undefined) {
    const latest = now + (ceilings?.maxExpiresIn ?? LAST_INSTANT);
    // A key that starts later ends at the ceiling at the latest, unless it would end by its start.
    usual.expires = Math.min(LAST_INSTANT, from + expiresIn, latest > from ? latest : LAST_INSTANT);
  }
  // Shared uses are set on the identity, and a key with unlimited uses has nothing to restore.
  if (settings.usesFrom === "key") {
    usual.remaining = remaining;
    if (settings.remaining !== null) usual.refill = refill;
  }
  if (settings.ratelimits?.some(({ name }) => name === DEFAULT_LIMIT)) usual.ratelimit = undefined;
  return usual;
}
