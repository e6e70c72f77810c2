import type { ErrorListener } from "../lib/error-listener.js";
import type { AppliedCharge } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import type { VerifiableKey } from "../verification/loaded-key.js";
import type { VerifyOutcome } from "../verification/verdict.js";
import { type EventListener, emit, type LatchkeyEvent } from "./emitter.js";

/** A verdict on a key that exists, and what it rests on. */
export interface JudgedKey {
  readonly loaded: VerifiableKey;
  readonly verdict: VerifyOutcome;
  /** Uses that were to be taken. */
  readonly cost: number;
  readonly now: EpochMs;
  readonly charge: AppliedCharge;
}

/** Emits the event of a secret that no key has. */
export function emitUnknownSecret(
  listener: EventListener,
  workspaceId: string,
  at: EpochMs,
  tags: readonly string[] | undefined,
  onError: ErrorListener | null,
): void {
  const event: LatchkeyEvent = {
    type: "key.verified",
    workspaceId,
    at,
    code: "NOT_FOUND",
    ...withTags(tags),
  };
  emit(listener, event, onError);
}

/** Emits the event of a verdict, and of what it says about the key: that it has expired, that its last use was taken. */
export function emitVerdict(
  listener: EventListener,
  judged: JudgedKey,
  tags: readonly string[] | undefined,
  onError: ErrorListener | null,
): void {
  for (const event of eventsOf(judged, tags)) emit(listener, event, onError);
}

function eventsOf(
  { loaded, verdict: { code }, cost, now, charge }: JudgedKey,
  tags: readonly string[] | undefined,
): readonly LatchkeyEvent[] {
  if (code === "NOT_FOUND") return [];
  const { key, identity } = loaded;
  const about = {
    workspaceId: key.workspaceId,
    at: now,
    keyId: key.id,
    apiId: key.apiId,
    ...(identity !== null && { identityId: identity.id }),
  };
  const events: LatchkeyEvent[] = [{ type: "key.verified", ...about, code, ...withTags(tags) }];
  const isLastUse = charge.kind === "charged" && charge.remaining === 0 && cost > 0;
  if (code === "VALID" && isLastUse) events.push({ type: "key.exhausted", ...about });
  if (code === "EXPIRED" && key.expires !== null)
    events.push({ type: "key.expired", ...about, expiredAt: key.expires });
  return events;
}

function withTags(tags: readonly string[] | undefined): { readonly tags?: readonly string[] } {
  return tags === undefined ? {} : { tags };
}
