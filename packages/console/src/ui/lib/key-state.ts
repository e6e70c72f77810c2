import type { Check, Key } from "./types.js";

/** The state of a key in one or two words, and how it looks. */
export interface KeyStateText {
  readonly text: string;
  readonly tone: "good" | "warn" | "bad";
}

const ACTIVE: KeyStateText = { text: "active", tone: "good" };
export const ROTATED: KeyStateText = { text: "rotated", tone: "warn" };

/** States that refuse every request with the key, by check. Checks that refuse only some requests, such as permissions, are left out. */
const REFUSING = {
  enabled: { text: "disabled", tone: "bad" },
  start: { text: "not started", tone: "warn" },
  expiry: { text: "expired", tone: "bad" },
  idle: { text: "unused too long", tone: "bad" },
  ratelimit: { text: "rate limited", tone: "warn" },
  uses: { text: "no uses left", tone: "bad" },
} as const satisfies Readonly<Record<string, KeyStateText>>;

const isRefusing = (check: string): check is keyof typeof REFUSING => check in REFUSING;

/** The state of a key in a list, which does not know how much its limits have left. */
export function listedState(item: Key, now: number): KeyStateText {
  if (item.rotatedTo !== undefined) return ROTATED;
  if (item.enabled) return ACTIVE;
  if (item.expires !== undefined && item.expires <= now) return REFUSING.expiry;
  if (item.idleExpiresAt !== undefined && item.idleExpiresAt <= now) return REFUSING.idle;
  if (item.startsAt !== undefined && item.startsAt > now) return REFUSING.start;
  return item.remaining === 0 ? REFUSING.uses : REFUSING.enabled;
}

/** The state of a key by the checks of a verdict: the first check that refuses every request. */
export function checkedState(checks: readonly Check[]): KeyStateText {
  for (const { check, passed, remaining } of checks) {
    if (passed || !isRefusing(check)) continue;
    // A request may ask for more uses than are left.
    if (check !== "uses" || remaining === 0) return REFUSING[check];
  }
  return ACTIVE;
}
