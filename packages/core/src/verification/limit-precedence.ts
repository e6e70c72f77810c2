import { kindText, type LimitKind } from "../rules/limit-state.js";
import type { RateLimit } from "../rules/rate-limit.js";
import { sha256Text } from "../secrets/hash.js";
import type { LimitCharge } from "../store/charge.js";
import type { VerifiableKey } from "./loaded-key.js";
import type { LimitRequest } from "./question.js";

/** Name of the window of a configured limit, among the counters of its owner. */
export function configuredWindow(limit: LimitKind & { readonly name: string }): string {
  return `${kindText(limit)}:${encodeURIComponent(limit.name)}`;
}

/** Name of the window of an ad hoc limit of a request. The keys of a rotation share it. */
export function adHocWindow(
  sharedCountersId: string,
  limit: LimitKind & { readonly name: string },
): string {
  return `a:${sharedCountersId}:${configuredWindow(limit)}`;
}

/** Name of the window of a limit without a key. Identifiers can have any length and alphabet, so a digest is used. */
export function namespaceWindow(namespace: string, identifier: string, limit: LimitKind): string {
  return `n:${kindText(limit)}:${sha256Text(JSON.stringify([namespace, identifier]))}`;
}

/** Indexes of the key and of its identity in the `confirms` of a plan. */
export const KEY_INDEX = 0;
export const IDENTITY_INDEX = 1;

/**
 * The limits that one verification takes from: those that apply by themselves (cost 1), of the key and then of its identity, then those
 * that the request names. A key's limit hides an identity's limit of the same name. A limit that the request names is taken from once, at
 * the requested cost.
 *
 * @returns Also the requested names without a configured limit: if there are any, the verification takes nothing.
 */
export function decideLimits(
  loaded: Pick<VerifiableKey, "key" | "identity">,
  requested: readonly LimitRequest[],
): { readonly limits: readonly LimitCharge[]; readonly unknown: readonly string[] } {
  const { key, identity } = loaded;
  const limits: LimitCharge[] = [];
  for (const limit of key.ratelimits)
    if (limit.autoApply && !isNamed(requested, limit.name))
      limits.push(configured(KEY_INDEX, limit, 1));
  for (const limit of identity?.ratelimits ?? []) {
    const isHidden = isNamed(key.ratelimits, limit.name) || isNamed(requested, limit.name);
    if (limit.autoApply && !isHidden) limits.push(configured(IDENTITY_INDEX, limit, 1));
  }
  const unknown: string[] = [];
  for (const request of requested) {
    const limit = requestedLimit(loaded, request);
    if (limit !== null) limits.push(limit);
    else if (!request.isOptional) unknown.push(request.name);
  }
  return { limits, unknown };
}

/** The limit that a request names, or null if none is configured. */
function requestedLimit(
  { key, identity }: Pick<VerifiableKey, "key" | "identity">,
  { name, adHoc, cost, isOptional }: LimitRequest,
): LimitCharge | null {
  const own = key.ratelimits.find((limit) => limit.name === name);
  const shared = identity?.ratelimits.find((limit) => limit.name === name);
  const isConfigured = own !== undefined || shared !== undefined;
  if (adHoc !== null && !(isOptional && isConfigured)) {
    const made = { name, ...adHoc };
    if (own !== undefined && configuredWindow(own) === configuredWindow(made))
      return configured(KEY_INDEX, made, cost);
    return takenFrom(made, cost, adHocWindow(key.sharedCountersId ?? key.id, made), null);
  }
  if (own !== undefined) return configured(KEY_INDEX, own, cost);
  return shared === undefined ? null : configured(IDENTITY_INDEX, shared, cost);
}

function configured(owner: number, limit: RateLimit, cost: number): LimitCharge {
  return takenFrom(limit, cost, configuredWindow(limit), owner);
}

/** Field by field, so that every limit of every plan has the same shape for the JavaScript engine. */
export function takenFrom(
  { name, algorithm, limit, duration, burst, shadow }: RateLimit,
  cost: number,
  window: string,
  owner: number | null,
): LimitCharge {
  return { name, algorithm, limit, duration, burst, shadow, cost, window, owner };
}

function isNamed(limits: readonly { readonly name: string }[], name: string): boolean {
  for (const limit of limits) if (limit.name === name) return true;
  return false;
}
