import { type EventListener, type LatchkeyEvent, tell } from "../audit/emitter.js";
import type { LoadedKey } from "../records/key.js";
import type { AppliedCharge, ChargePlan } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import type { VerifyOutcome } from "./verdict.js";

/** A verdict on a key that exists, and what it rests on. */
export interface JudgedKey {
  readonly loaded: LoadedKey;
  readonly verdict: VerifyOutcome;
  readonly plan: Pick<ChargePlan, "cost" | "now">;
  readonly charge: AppliedCharge;
}

/** Tells a listener of a secret that no key has. */
export function tellOfUnknownSecret(
  listener: EventListener,
  workspaceId: string,
  at: EpochMs,
  tags: readonly string[] | undefined,
): void {
  tell(listener, { type: "key.verified", workspaceId, at, code: "NOT_FOUND", ...withTags(tags) });
}

/** Tells a listener of a verdict, and of what it says about the key: that it has expired, that its last use is taken. */
export function tellOfVerdict(
  listener: EventListener,
  judged: JudgedKey,
  tags: readonly string[] | undefined,
): void {
  for (const event of eventsOf(judged, tags)) tell(listener, event);
}

function eventsOf(
  { loaded, verdict: { code }, plan, charge }: JudgedKey,
  tags: readonly string[] | undefined,
): readonly LatchkeyEvent[] {
  if (code === "NOT_FOUND") return [];
  const { key, identity } = loaded;
  const about = {
    workspaceId: key.workspaceId,
    at: plan.now,
    keyId: key.id,
    apiId: key.apiId,
    ...(identity !== null && { identityId: identity.id }),
  };
  const events: LatchkeyEvent[] = [{ type: "key.verified", ...about, code, ...withTags(tags) }];
  const isLastUse = charge.kind === "charged" && charge.remaining === 0 && plan.cost > 0;
  if (code === "VALID" && isLastUse) events.push({ type: "key.exhausted", ...about });
  if (code === "EXPIRED" && key.expiresAt !== null)
    events.push({ type: "key.expired", ...about, expiredAt: key.expiresAt });
  return events;
}

function withTags(tags: readonly string[] | undefined): { readonly tags?: readonly string[] } {
  return tags === undefined ? {} : { tags };
}
