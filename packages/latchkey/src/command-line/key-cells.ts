import {
  type EpochMs,
  type IdentityView,
  type KeyView,
  labelsOf,
  type WireLimitFigures,
} from "@latchkey/core";
import { type Cell, instant } from "./output.js";
import { spanText } from "./values.js";

type Cells = readonly (readonly [title: string, value: Cell])[];

/**
 * The state of a key: `disabled` if somebody disabled it, otherwise `expired`, `not started`, `no uses left` or `enabled`.
 *
 * @param isOn - Whether it is switched on.
 * @param now - Unix epoch ms.
 */
export function stateText(
  key: Pick<KeyView, "expires" | "idleExpiresAt" | "startsAt" | "remaining">,
  isOn: boolean,
  now: EpochMs,
): string {
  if (!isOn) return "disabled";
  for (const at of [key.expires, key.idleExpiresAt])
    if (at !== undefined && at <= now) return "expired";
  if (key.startsAt !== undefined && key.startsAt > now) return "not started";
  return key.remaining === 0 ? "no uses left" : "enabled";
}

/** A key with its {@link stateText}, because `enabled` is also false for a key that is used up or expired. */
export interface ShownKey extends KeyView {
  readonly state: string;
}

/** A key as lines of a record. */
export function keyCells(key: ShownKey): Cells {
  return [
    ["id", key.id],
    ["start", key.start],
    ...Object.entries(labelsOf((label) => key[label])),
    ["apiId", key.apiId],
    ["state", key.state],
    ["externalId", key.identity?.externalId],
    ["tags", joined(key.tags ?? [])],
    ["ipWhitelist", joined(key.ipWhitelist ?? [])],
    ["roles", joined(key.roles)],
    ["permissions", joined(key.permissions)],
    ["startsAt", instant(key.startsAt)],
    ["expires", instant(key.expires)],
    ["expiresWhenUnused", key.expiresWhenUnused && spanText(key.expiresWhenUnused)],
    ["idleExpiresAt", instant(key.idleExpiresAt)],
    ["remaining", key.remaining],
    ["reserved", key.reserved],
    ["usesFrom", key.usesFrom],
    ["refill", refillText(key.refill)],
    ["ratelimits", limitsText(key.ratelimits)],
    ["meta", key.meta && JSON.stringify(key.meta)],
    ["createdAt", instant(key.createdAt)],
    ["updatedAt", instant(key.updatedAt)],
    ["lastUsedAt", instant(key.lastUsedAt)],
    ["rotatedFrom", key.rotatedFrom],
    ["rotatedTo", key.rotatedTo],
    ["plaintext", key.plaintext],
  ];
}

/** An identity as lines of a record. */
export function identityCells(identity: IdentityView): Cells {
  return [
    ["id", identity.id],
    ["externalId", identity.externalId],
    ["remaining", identity.remaining],
    ["reserved", identity.reserved],
    ["refill", refillText(identity.refill)],
    ["ratelimits", limitsText(identity.ratelimits)],
    ["meta", JSON.stringify(identity.meta)],
  ];
}

/** The uses left after a change. */
export function remainingCells({
  remaining = "unlimited",
}: {
  readonly remaining?: number | "unlimited";
}): Cells {
  return [["remaining", remaining]];
}

/** The held units of each limit. A name that contains separators is quoted. */
export function costsText(costs: readonly { readonly name: string; readonly cost: number }[]) {
  return costs
    .map(({ name, cost }) => `${/[,="\s]/.test(name) ? JSON.stringify(name) : name}=${cost}`)
    .join(",");
}

function joined(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.join(",");
}

function refillText(refill: KeyView["refill"]): string | undefined {
  if (refill === undefined) return undefined;
  const { interval, amount, carryOver, refillDay, lastRefillAt } = refill;
  const day = refillDay === undefined ? "" : `:${refillDay}`;
  const last = lastRefillAt === undefined ? "" : ` (last ${instant(lastRefillAt)})`;
  const when = typeof interval === "object" ? spanText(interval.every) : interval;
  const carry = carryOver === undefined ? "" : `:carry=${carryOver}`;
  return `${when}:${amount}${day}${carry}${last}`;
}

function limitsText(
  limits: readonly (WireLimitFigures & { readonly name: string })[] | undefined,
): string | undefined {
  return limits
    ?.map((limit) => `${limit.name}=${limit.limit}/${spanText(limit.duration)}${howText(limit)}`)
    .join(",");
}

/** How a limit counts, as `--ratelimit` takes it after the span; empty for a fixed limit that refuses. */
export function howText({ algorithm, burst, shadow }: WireLimitFigures): string {
  const counting = burst === undefined ? algorithm : `burst=${burst}`;
  return `${counting === undefined ? "" : `:${counting}`}${shadow ? ":shadow" : ""}`;
}
