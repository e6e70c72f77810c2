import { type ErrorListener, report } from "../lib/error-listener.js";
import type { EpochMs } from "../time.js";
import type { VerifyOutcome } from "../verification/verdict.js";
import type { AuditEvent } from "./event.js";

/** What every event about a verification says. Never the presented secret, nor any part of it. */
interface AboutKey {
  readonly workspaceId: string;
  /** Unix epoch ms. */
  readonly at: EpochMs;
  readonly keyId: string;
  readonly apiId: string;
  readonly identityId?: string;
}

/** A verdict was given on a presented secret. */
export type KeyVerifiedEvent =
  | (AboutKey & {
      readonly type: "key.verified";
      readonly code: Exclude<VerifyOutcome["code"], "NOT_FOUND">;
      /** As the caller gave them. */
      readonly tags?: readonly string[];
    })
  | {
      readonly type: "key.verified";
      readonly workspaceId: string;
      readonly at: EpochMs;
      readonly code: "NOT_FOUND";
      readonly tags?: readonly string[];
    };

/** A verification took the last use that the key had. */
export interface KeyExhaustedEvent extends AboutKey {
  readonly type: "key.exhausted";
}

/** A key was presented after its expiry. Emitted with each such verification: nothing watches the clock. */
export interface KeyExpiredEvent extends AboutKey {
  readonly type: "key.expired";
  readonly expiredAt: EpochMs;
}

/** Every event: switch over `type`. */
export type LatchkeyEvent = AuditEvent | KeyVerifiedEvent | KeyExhaustedEvent | KeyExpiredEvent;

/** Is called with every event, in the order in which they happened in this process. */
export type EventListener = (event: LatchkeyEvent) => unknown;

/**
 * Calls a listener. Nothing that it does reaches the operation, which has happened: what it throws or rejects with goes to
 * `onError`, and a promise that it answers is not waited for.
 */
export function emit(
  listener: EventListener,
  event: LatchkeyEvent,
  onError: ErrorListener | null,
): void {
  try {
    const answer = listener(event);
    // Whatever kind of promise it is.
    if (typeof answer === "object" && answer !== null && "then" in answer)
      Promise.resolve(answer).catch((error: unknown) => report(onError, error));
  } catch (error) {
    report(onError, error);
  }
}
