import type { ApiRecord } from "../records/api.js";
import type { LoadedKey } from "../records/key.js";
import { isAddressListed } from "../rules/address.js";
import { isExpired } from "../rules/expiry.js";
import { isSatisfied, type PermissionQuery } from "../rules/permission.js";
import { type DueRefill, dueRefill } from "../rules/refill.js";
import type { ChargePlan, ChargeRequest, LimitCharge } from "../store/charge.js";
import type { EpochMs, SpanMs } from "../time.js";
import type { StateRefusal } from "./verdict.js";

/** What a caller asks of a key, beside whether it is alive. */
export interface VerifyQuestion {
  /** The API that the key must belong to, or null for any. */
  readonly apiId: string | null;
  /** Where the caller of the key is, as `canonicalAddress` writes it, or null where that is not known. */
  readonly address: string | null;
  readonly permissions: PermissionQuery | null;
  /** Uses to spend: a whole number >= 0. */
  readonly cost: number;
  /** Limits named by the request; no two of one name. */
  readonly limits: readonly LimitRequest[];
}

/** A limit named by a request. */
export interface LimitRequest {
  readonly name: string;
  readonly cost: number;
  /** Makes it a limit of the key for this request, whatever is configured; null takes the configured limit. */
  readonly adHoc: { readonly limit: number; readonly duration: SpanMs } | null;
  /** Whether a name that nothing configures is passed over instead of being an error. */
  readonly isOptional: boolean;
}

/** A loaded key, with what `standingLimits` says of it where that was worked out before. */
export interface DecidableKey extends LoadedKey {
  readonly standing?: readonly LimitCharge[];
}

/** What the records say of a question. Pure: counters move only when the store confirms it. */
export type VerifyDecision =
  | { readonly kind: "refuse"; readonly code: StateRefusal }
  | { readonly kind: "workspace-disabled" }
  | { readonly kind: "unknown-limits"; readonly names: readonly string[] }
  | { readonly kind: "charge"; readonly limits: readonly LimitCharge[] };

const NO_LIMITS: readonly LimitCharge[] = [];
const NO_REQUESTS: readonly LimitRequest[] = [];

/**
 * Decides what the records say, in this order, the first failure answering: workspace disabled, `DISABLED`,
 * `FORBIDDEN` (other API), `EXPIRED`, `FORBIDDEN` (address), `INSUFFICIENT_PERMISSIONS`; then which limits are to be charged.
 *
 * @param now - Unix epoch ms, handed in by the caller.
 * @see packages/core/decisions/0005-order-of-checks.md
 */
export function decideVerification(
  loaded: DecidableKey,
  question: VerifyQuestion,
  now: EpochMs,
): VerifyDecision {
  const { key } = loaded;
  if (!loaded.workspace.enabled) return { kind: "workspace-disabled" };
  if (!key.switchedOn) return { kind: "refuse", code: "DISABLED" };
  if (question.apiId !== null && question.apiId !== key.apiId)
    return { kind: "refuse", code: "FORBIDDEN" };
  if (isExpired(key.expiresAt, now)) return { kind: "refuse", code: "EXPIRED" };
  if (!isAddressAllowed(loaded.api, question.address)) return { kind: "refuse", code: "FORBIDDEN" };
  if (question.permissions !== null && !isSatisfied(question.permissions, loaded.permissions)) {
    return { kind: "refuse", code: "INSUFFICIENT_PERMISSIONS" };
  }
  return decideLimits(loaded, question.limits);
}

/** Whether keys of an API may be used from an address. An API without an allow-list lets in every address, and none too. */
export function isAddressAllowed({ ipWhitelist }: ApiRecord, address: string | null): boolean {
  return ipWhitelist.length === 0 || isAddressListed(ipWhitelist, address);
}

/** The limits that a verification takes from when it names none, in the order of {@link decideLimits}. */
export function standingLimits(loaded: LoadedKey): readonly LimitCharge[] {
  const limits = appliedLimits(loaded, NO_REQUESTS);
  return limits.length === 0 ? NO_LIMITS : limits;
}

/**
 * The limits that one verification takes from: those that apply by themselves (cost 1), of the key and then of its
 * identity, then those that the request names. A key's limit hides an identity's of the same name, and a limit that the
 * request names is taken from once, at the cost named.
 */
export function decideLimits(
  loaded: DecidableKey,
  requested: readonly LimitRequest[],
): VerifyDecision {
  if (requested.length === 0)
    return { kind: "charge", limits: loaded.standing ?? standingLimits(loaded) };
  const charges = appliedLimits(loaded, requested);
  const unknown: string[] = [];
  for (const request of requested) {
    const charge = chargeFor(loaded, request);
    if (charge !== null) charges.push(charge);
    else if (!request.isOptional) unknown.push(request.name);
  }
  return unknown.length > 0
    ? { kind: "unknown-limits", names: unknown }
    : { kind: "charge", limits: charges };
}

/** Those that apply by themselves. */
function appliedLimits(
  { key, identity }: LoadedKey,
  requested: readonly LimitRequest[],
): LimitCharge[] {
  const charges: LimitCharge[] = [];
  for (const limit of key.ratelimits) {
    if (limit.autoApply && !isNamed(requested, limit.name)) charges.push(chargeOf("key", limit, 1));
  }
  for (const limit of identity?.ratelimits ?? []) {
    const isHidden = isNamed(key.ratelimits, limit.name) || isNamed(requested, limit.name);
    if (limit.autoApply && !isHidden) charges.push(chargeOf("identity", limit, 1));
  }
  return charges;
}

/** The limit that a request names, or null where nothing configures it. */
function chargeFor({ key, identity }: LoadedKey, request: LimitRequest): LimitCharge | null {
  const { name, adHoc, cost } = request;
  const own = key.ratelimits.find((limit) => limit.name === name);
  if (adHoc !== null) {
    const isConfigured = own !== undefined && own.duration === adHoc.duration;
    return { owner: "key", isConfigured, name, ...adHoc, cost };
  }
  if (own !== undefined) return chargeOf("key", own, cost);
  const shared = identity?.ratelimits.find((limit) => limit.name === name);
  return shared === undefined ? null : chargeOf("identity", shared, cost);
}

/**
 * The atomic step that confirms a decision. A decision to charge takes; any other only looks, so that a verdict
 * is never given on records that have changed since they were read.
 */
export function planCharge(
  loaded: LoadedKey,
  question: VerifyQuestion,
  decision: VerifyDecision,
  now: EpochMs,
  request?: ChargeRequest,
): ChargePlan {
  const { key, identity, workspace } = loaded;
  const isCharge = decision.kind === "charge";
  return {
    workspaceId: key.workspaceId,
    keyId: key.id,
    identityId: key.identityId,
    countersId: key.countersId,
    usesFrom: key.usesFrom,
    handle: loaded.handle,
    now,
    expects: {
      keyVersion: key.version,
      identityVersion: identity === null ? null : identity.version,
      epoch: workspace.epoch,
    },
    mode: isCharge ? "take" : "look",
    cost: isCharge ? question.cost : 0,
    refill: dueRefillOf(loaded, now),
    limits: isCharge ? decision.limits : NO_LIMITS,
    request: isCharge ? request : undefined,
  };
}

/** The refill that is owed to the uses which the key draws from. */
function dueRefillOf({ key, identity }: LoadedKey, now: EpochMs): DueRefill | null {
  const refill = key.usesFrom === "key" ? key.refill : (identity?.refill ?? null);
  return refill === null ? null : dueRefill(refill, now);
}

function isNamed(limits: readonly { readonly name: string }[], name: string): boolean {
  for (const limit of limits) if (limit.name === name) return true;
  return false;
}

function chargeOf(
  owner: LimitCharge["owner"],
  { name, limit, duration }: { name: string; limit: number; duration: SpanMs },
  cost: number,
): LimitCharge {
  return { owner, isConfigured: true, name, limit, duration, cost };
}
