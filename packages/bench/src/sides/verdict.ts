import type { PermissionQuery } from "@latchkey/core";
import type { IdentityRow, KeyRow } from "../fixture/rows.js";
import type { ChargedLimit } from "../questions.js";

/** A limit as a verdict shows it. */
export interface ShownLimit {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
  readonly exceeded: boolean;
  readonly duration: number;
}

/** The answer of the hand-written limits: the same fields as latchkey's. */
export interface LimitVerdict {
  valid: boolean;
  code: string;
  keyId: string;
  apiId: string;
  enabled: boolean;
  permissions: readonly string[];
  roles: readonly string[];
  expires?: number;
  ownerId?: string;
  identity?: { id: string; externalId: string; meta: object };
  remaining?: number;
  ratelimit?: { limit: number; remaining: number; reset: number };
  ratelimits?: readonly ShownLimit[];
  missing?: PermissionQuery;
  retryAfterMs?: number;
}

export const NOT_FOUND = Object.freeze({ valid: false, code: "NOT_FOUND" });

const NO_ROLES: readonly string[] = [];
const NO_META = Object.freeze({});

/** The fields of a key in a verdict. */
export interface VerdictKey {
  readonly keyId: string;
  readonly apiId: string;
  readonly permissions: readonly string[];
  readonly expires: number | null;
  readonly identity: IdentityRow | null;
}

/** The verdict on a valid key without the required permissions. `missing`: the permissions that it lacks. */
export function unpermitted(
  key: VerdictKey,
  remaining: number | null,
  missing: PermissionQuery,
  now: number,
): LimitVerdict {
  const verdict = limitVerdict(key, "INSUFFICIENT_PERMISSIONS", true, remaining, [], now);
  verdict.missing = missing;
  return verdict;
}

/** `limits`: all that the question takes from, in its order; empty if none was counted. `ratelimit` of the verdict is the first of them. */
export function limitVerdict(
  { keyId, apiId, permissions, expires, identity }: VerdictKey,
  code: string,
  enabled: boolean,
  remaining: number | null,
  limits: readonly ShownLimit[],
  now: number,
): LimitVerdict {
  const valid = code === "VALID";
  const verdict: LimitVerdict = {
    valid,
    code,
    keyId,
    apiId,
    enabled,
    permissions,
    roles: NO_ROLES,
  };
  if (expires !== null) verdict.expires = expires;
  if (identity !== null) {
    verdict.ownerId = identity.externalId;
    verdict.identity = { id: identity.id, externalId: identity.externalId, meta: NO_META };
  }
  if (remaining !== null) verdict.remaining = remaining;
  if (limits.length > 0) {
    const { limit, remaining: left, reset } = limits[0] as ShownLimit;
    verdict.ratelimit = { limit, remaining: left, reset };
    verdict.ratelimits = limits;
  }
  if (code === "RATE_LIMITED") {
    const resets = limits.map(({ exceeded, reset }) => (exceeded ? reset : 0));
    verdict.retryAfterMs = Math.max(...resets) - now;
  }
  return verdict;
}

/** The state of a limit in a verdict. `used`: units taken in the fixed window that began at `startedAt`. */
export function shownLimit(
  { shape }: ChargedLimit,
  used: number,
  startedAt: number,
  exceeded: boolean,
): ShownLimit {
  const { name, limit, duration } = shape;
  return { name, limit, remaining: limit - used, reset: startedAt + duration, exceeded, duration };
}

/** The fields of a row that a verdict shows. */
export function verdictKey({ keyId, apiId, shape, expires, identity }: KeyRow): VerdictKey {
  return { keyId, apiId, permissions: shape.permissions, expires, identity };
}
