import { idleExpiresAt, isExpired } from "../rules/keys/lifecycle.js";
import type { AppliedCharge } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import type { VerifiableKey } from "../verification/loaded-key.js";
import type { KnownVerdict } from "../verification/verdict.js";
import type { Emit } from "./emitter.js";

/** What listeners learn about a verification, apart from its verdict. */
export interface VerificationTrace {
  readonly durationMs: number;
  /** Whether it was decided from memory. */
  readonly cached: boolean;
  readonly tags: readonly string[] | undefined;
}

/** A verdict on an existing key, and what it is based on. */
export interface JudgedKey {
  readonly loaded: VerifiableKey;
  readonly verdict: KnownVerdict;
  readonly cost: number;
  readonly now: EpochMs;
  readonly charge: AppliedCharge;
  /** Names of the shadow limits that would have refused. */
  readonly shadows: readonly string[];
}

export function emitUnknownSecret(
  emit: Emit,
  workspaceId: string,
  at: EpochMs,
  { durationMs, cached, tags }: VerificationTrace,
): void {
  const about = { workspaceId, at, durationMs };
  emit({ type: "key.verified", ...about, code: "NOT_FOUND", cached, ...withTags(tags) });
}

/** Emits the event of a verdict, and another one if the key has expired or its last use was taken. */
export function emitVerdict(
  emit: Emit,
  { loaded, verdict: { code }, cost, now, charge, shadows }: JudgedKey,
  { durationMs, cached, tags }: VerificationTrace,
): void {
  const { key, identity } = loaded;
  const about = {
    workspaceId: key.workspaceId,
    at: now,
    durationMs,
    keyId: key.id,
    apiId: key.apiId,
    ...(identity !== null && { identityId: identity.id }),
  };
  const shadow = { code: "SHADOW_LIMITED", ratelimits: shadows } as const;
  emit({
    type: "key.verified",
    ...about,
    code,
    cached,
    ...(charge.leased && { leased: true }),
    ...(shadows.length > 0 && { shadow }),
    ...withTags(tags),
  });
  const isLastUse = charge.kind === "charged" && charge.remaining === 0 && cost > 0;
  if (code === "VALID" && isLastUse) emit({ type: "key.exhausted", ...about });
  if (code !== "EXPIRED") return;
  const { expires } = key;
  const expiredAt = isExpired(expires, now) ? expires : idleExpiresAt(key, loaded.lastUsedAt);
  if (expiredAt !== null) emit({ type: "key.expired", ...about, expiredAt });
}

function withTags(tags: readonly string[] | undefined): { readonly tags?: readonly string[] } {
  return tags === undefined ? {} : { tags };
}
