import type { IdentityRecord } from "../records/identity.js";
import { DEFAULT_LIMIT } from "../rules/default-limit.js";
import { keyState } from "../rules/lifecycle.js";
import type { Metadata } from "../rules/metadata.js";
import type { AppliedCharge, LimitReading } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import type { RecordRefusal } from "./checks.js";
import type { VerifiableKey } from "./loaded-key.js";

/** What every verdict but `NOT_FOUND` says about the key. Fields without a value are absent. */
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

/** Writes the verdict on a confirmed decision. */
export function verdictOf(
  loaded: VerifiableKey,
  code: RecordRefusal | "VALID" | "RATE_LIMITED" | "USAGE_EXCEEDED",
  charge: AppliedCharge,
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
      keyState({ enabled: key.enabled, expires: key.expires, remaining }, now) === "enabled",
    permissions: loaded.permissions,
    roles: loaded.roles,
  };
  // Assigned one by one: spreads make a verdict three times as dear, and this is the hot path.
  if (key.name !== null) verdict.name = key.name;
  if (key.meta !== null) verdict.meta = key.meta;
  if (key.expires !== null) verdict.expires = key.expires;
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

function leadingLimit(limits: readonly LimitReading[]): LimitReading {
  if (limits.length === 1) return limits[0] as LimitReading;
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
