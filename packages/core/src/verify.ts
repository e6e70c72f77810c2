import type {
  ChargePlan,
  ChargeRequest,
  LimitCharge,
  LimitReading,
  SettledCharge,
} from "./charge.js";
import { isExpired } from "./expiry.js";
import type { IdentityRecord } from "./identity.js";
import { DEFAULT_LIMIT, type LoadedKey } from "./key.js";
import { keyState } from "./lifecycle.js";
import type { Metadata } from "./metadata.js";
import { isSatisfied, type PermissionQuery } from "./permission.js";
import { dueRefill } from "./refill.js";
import type { EpochMs, SpanMs } from "./time.js";

/** What a caller asks of a key, beside whether it is alive. */
export interface VerifyQuestion {
  /** The API that the key must belong to, or null for any. */
  readonly apiId: string | null;
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
  readonly adHoc: { readonly limit: number; readonly durationMs: SpanMs } | null;
  /** Whether a name that nothing configures is passed over instead of being an error. */
  readonly isOptional: boolean;
}

/** A refusal that follows from the records alone, before any counter is looked at. */
export type StateRefusal = "DISABLED" | "FORBIDDEN" | "EXPIRED" | "INSUFFICIENT_PERMISSIONS";

/** What the records say of a question. Pure: counters move only when the store confirms it. */
export type VerifyDecision =
  | { readonly kind: "refuse"; readonly code: StateRefusal }
  | { readonly kind: "workspace-disabled" }
  | { readonly kind: "unknown-limits"; readonly names: readonly string[] }
  | { readonly kind: "charge"; readonly limits: readonly LimitCharge[] };

/** What every verdict but `NOT_FOUND` tells of the key. Fields without a value are absent. */
export interface VerifiedKey {
  readonly keyId: string;
  readonly apiId: string;
  readonly name?: string;
  /** Deprecated: the `externalId` of the identity. */
  readonly ownerId?: string;
  readonly meta?: Metadata;
  /** Unix epoch ms. */
  readonly expires?: EpochMs;
  /** The derived state that the decision was made on: a key whose last use this verification took says true. */
  readonly enabled: boolean;
  readonly permissions: readonly string[];
  readonly roles: readonly string[];
  readonly environment?: string;
  readonly identity?: { readonly id: string; readonly externalId: string; readonly meta: Metadata };
  /** Uses left after this verification; absent when unlimited. */
  readonly remaining?: number;
  /** The refusing limit, else the one named `default`, else the first evaluated; absent when none was evaluated. */
  readonly ratelimit?: RatelimitState;
  /** Every limit evaluated, in order; absent when none was. */
  readonly ratelimits?: readonly NamedRatelimitState[];
}

/** A limit as a verification leaves it. `reset`: Unix epoch ms at which the next window opens. */
export interface RatelimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: EpochMs;
}

/** A {@link RatelimitState} with the limit's name and whether it refused. */
export interface NamedRatelimitState extends RatelimitState {
  readonly name: string;
  readonly exceeded: boolean;
}

/** The verdict on one presented secret: switch over `code`. */
export type VerifyOutcome =
  | ({ readonly valid: true; readonly code: "VALID" } & VerifiedKey)
  | { readonly valid: false; readonly code: "NOT_FOUND" }
  | ({
      readonly valid: false;
      readonly code:
        | "DISABLED"
        | "FORBIDDEN"
        | "EXPIRED"
        | "INSUFFICIENT_PERMISSIONS"
        | "RATE_LIMITED"
        | "USAGE_EXCEEDED";
    } & VerifiedKey);

const NO_LIMITS: readonly LimitCharge[] = [];

/**
 * Decides what the records say, in this order, the first failure answering: workspace disabled, `DISABLED`,
 * `FORBIDDEN` (other API), `EXPIRED`, `INSUFFICIENT_PERMISSIONS`; then which limits are to be charged.
 *
 * @param now - Unix epoch ms, handed in by the caller.
 * @see packages/core/decisions/0005-order-of-checks.md
 */
export function decideVerification(
  loaded: LoadedKey,
  question: VerifyQuestion,
  now: EpochMs,
): VerifyDecision {
  const { key } = loaded;
  if (!loaded.workspace.enabled) return { kind: "workspace-disabled" };
  if (!key.switchedOn) return { kind: "refuse", code: "DISABLED" };
  if (question.apiId !== null && question.apiId !== key.apiId)
    return { kind: "refuse", code: "FORBIDDEN" };
  if (isExpired(key.expiresAt, now)) return { kind: "refuse", code: "EXPIRED" };
  if (question.permissions !== null && !isSatisfied(question.permissions, loaded.permissions)) {
    return { kind: "refuse", code: "INSUFFICIENT_PERMISSIONS" };
  }
  return decideLimits(loaded, question.limits);
}

/**
 * The limits that one verification takes from: the key's `default` by itself (cost 1), then those that the
 * request names. A key's limit hides an identity's of the same name.
 */
export function decideLimits(
  loaded: LoadedKey,
  requested: readonly LimitRequest[],
): VerifyDecision {
  const { key, identity } = loaded;
  if (requested.length === 0 && key.ratelimits.length === 0)
    return { kind: "charge", limits: NO_LIMITS };
  const charges: LimitCharge[] = [];
  const unknown: string[] = [];
  if (!namesDefault(requested)) {
    const own = key.ratelimits.find(isDefault);
    if (own !== undefined) charges.push(chargeOf("key", own, 1));
  }
  for (const request of requested) {
    const own = key.ratelimits.find(({ name }) => name === request.name);
    const shared = identity?.ratelimits.find(({ name }) => name === request.name);
    if (request.adHoc !== null) {
      const isConfigured = own !== undefined && own.durationMs === request.adHoc.durationMs;
      charges.push({
        owner: "key",
        isConfigured,
        name: request.name,
        ...request.adHoc,
        cost: request.cost,
      });
    } else if (own !== undefined) charges.push(chargeOf("key", own, request.cost));
    else if (shared !== undefined) charges.push(chargeOf("identity", shared, request.cost));
    else if (!request.isOptional) unknown.push(request.name);
  }
  return unknown.length > 0
    ? { kind: "unknown-limits", names: unknown }
    : { kind: "charge", limits: charges };
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
    handle: loaded.handle,
    now,
    expects: {
      keyVersion: key.version,
      identityVersion: identity === null ? null : identity.version,
      epoch: workspace.epoch,
    },
    mode: isCharge ? "take" : "look",
    cost: isCharge ? question.cost : 0,
    refill: key.refill === null ? null : dueRefill(key.refill, now),
    limits: isCharge ? decision.limits : NO_LIMITS,
    request: isCharge ? request : undefined,
  };
}

/** Writes the verdict on a confirmed decision. */
export function verdictOf(
  loaded: LoadedKey,
  code: StateRefusal | "VALID" | "RATE_LIMITED" | "USAGE_EXCEEDED",
  charge: SettledCharge,
  now: EpochMs,
): VerifyOutcome {
  const { key, identity } = loaded;
  const { remaining, limits } = charge;
  const isValid = code === "VALID";
  const verdict: { -readonly [Field in keyof VerifiedKey]: VerifiedKey[Field] } & {
    readonly valid: boolean;
    readonly code: typeof code;
  } = {
    valid: isValid,
    code,
    keyId: key.id,
    apiId: key.apiId,
    enabled:
      isValid ||
      keyState({ switchedOn: key.switchedOn, expiresAt: key.expiresAt, remaining }, now) ===
        "enabled",
    permissions: loaded.permissions,
    roles: loaded.roles,
  };
  // Assigned one by one: spreads make a verdict three times as dear, and this is the hot path.
  if (key.name !== null) verdict.name = key.name;
  if (key.meta !== null) verdict.meta = key.meta;
  if (key.expiresAt !== null) verdict.expires = key.expiresAt;
  if (key.environment !== null) verdict.environment = key.environment;
  if (identity !== null) {
    verdict.ownerId = identity.externalId;
    verdict.identity = publicIdentity(identity);
  }
  if (remaining !== null) verdict.remaining = remaining;
  if (limits.length > 0) {
    verdict.ratelimit = ratelimitState(leadingLimit(limits));
    verdict.ratelimits = limits.map(namedRatelimitState);
  }
  return verdict as VerifyOutcome;
}

/** The part of an identity that is shown beside its keys. */
export function publicIdentity({
  id,
  externalId,
  meta,
}: IdentityRecord): NonNullable<VerifiedKey["identity"]> {
  return { id, externalId, meta };
}

function isDefault({ name }: { readonly name: string }): boolean {
  return name === DEFAULT_LIMIT;
}

function namesDefault(requested: readonly LimitRequest[]): boolean {
  return requested.length > 0 && requested.some(isDefault);
}

function chargeOf(
  owner: LimitCharge["owner"],
  { name, limit, durationMs }: { name: string; limit: number; durationMs: SpanMs },
  cost: number,
): LimitCharge {
  return { owner, isConfigured: true, name, limit, durationMs, cost };
}

function leadingLimit(limits: readonly LimitReading[]): LimitReading {
  const refusing = limits.find(({ exceeded }) => exceeded);
  const byDefault = limits.find(({ name }) => name === DEFAULT_LIMIT);
  return refusing ?? byDefault ?? (limits[0] as LimitReading);
}

function namedRatelimitState(reading: LimitReading): NamedRatelimitState {
  const { name, limit, remaining, resetAt, exceeded } = reading;
  return { name, limit, remaining, reset: resetAt, exceeded };
}

function ratelimitState({ limit, remaining, resetAt }: LimitReading): RatelimitState {
  return { limit, remaining, reset: resetAt };
}
