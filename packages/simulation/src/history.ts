import { type Latchkey, LatchkeyError, type PortalSession } from "@latchkey/core";
import type { Figures } from "./plan/limits.js";
import type { Write } from "./world/server.js";

/** How uses are restored. */
export type Refill = { readonly amount: number; readonly carryOver?: number } & (
  | { readonly interval: "hourly" | "daily" }
  | { readonly interval: { readonly every: number } }
  | { readonly interval: "weekly" | "monthly"; readonly refillDay: number }
);

/** How a key was created. */
export interface KeySetup {
  /** Uses granted at first; null: unlimited. */
  readonly remaining: number | null;
  readonly refill: Refill | null;
  /** The limit named `default`; null: none. */
  readonly limit: Figures | null;
  /** The concurrent limit named `parallel`; null: none. */
  readonly slots: { readonly limit: number; readonly duration: number } | null;
  /** Index of the identity that owns it; null: none. */
  readonly identity: number | null;
  readonly usesFrom: "key" | "identity";
  readonly hasRole: boolean;
}

/** A key that the world knows. */
export interface KnownKey {
  /** `k0`, `k1`, … in the order of creation. */
  readonly name: string;
  readonly keyId: string;
  readonly secret: string;
  readonly workspace: number;
  readonly setup: KeySetup;
  /** The key that was rotated into this one, and the call that rotated it; null: it was created. */
  readonly origin: { readonly key: KnownKey; readonly call: Call } | null;
  /** The first key of its chain of rotations: all keys of the chain share counters. */
  readonly first: string;
}

/** A reservation whose id a call returned. */
export interface KnownReservation {
  readonly id: string;
  readonly key: KnownKey;
  /** The call that made it. */
  readonly call: Call;
  readonly expiresAt: number;
}

/** A root key that the world knows. */
export interface KnownRootKey {
  /** `root0`, `root1`, … in the order of creation. */
  readonly name: string;
  readonly rootKeyId: string;
  readonly secret: string;
  readonly workspace: number;
  /** With which it was created. */
  readonly permissions: readonly string[];
  /** The root key that was rotated into this one, and the call that rotated it; null: it was created. */
  readonly origin: { readonly root: KnownRootKey; readonly call: Call } | null;
}

/** A portal session that the world knows. */
export interface KnownSession {
  /** `session0`, `session1`, … in the order of creation. */
  readonly name: string;
  readonly sessionId: string;
  readonly secret: string;
  readonly workspace: number;
  /** The true time at which the call began that made it. */
  readonly madeAt: number;
  /** Unix epoch ms at which it ends, by the clock of the process that made it. */
  readonly expires: number;
  /** Index of the identity that it is for. */
  readonly owner: number;
  /** As each process has opened it. */
  readonly kept: Map<Latchkey, PortalSession>;
}

/** The outcome of a call. */
export type Outcome =
  | { readonly kind: "pending" }
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "failed"; readonly error: unknown }
  /** Its process was killed. */
  | { readonly kind: "abandoned" };

/** One call of an operation. Ticks order all events; `endTick` is infinite until the call ends. */
export interface Call {
  readonly index: number;
  readonly process: number;
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly workspace: number;
  /** The key that the call is about; null: none. */
  readonly key: KnownKey | null;
  readonly startTick: number;
  readonly startAt: number;
  /** By the clock of its process. */
  readonly startNow: number;
  /** During the call, every reading of its process's clock is between these two. */
  leastNow: number;
  endNow: number;
  endTick: number;
  endAt: number;
  outcome: Outcome;
}

/** Writes that the store lost on purpose. */
export interface Loss {
  readonly tick: number;
  /** In the order of writing. */
  readonly writes: readonly Write[];
  /** Ids of all records that the lost changes wrote or deleted. */
  readonly ids: ReadonlySet<string>;
}

/** Error codes that say that the call had no effect. */
const REFUSALS: ReadonlySet<string> = new Set([
  "BAD_REQUEST",
  "CONFLICT",
  "FORBIDDEN",
  "NOT_FOUND",
  "PRECONDITION_FAILED",
]);

/** Whether a call may have had an effect: it returned, or its outcome is unknown. */
export function mayHaveHappened({ outcome }: Call): boolean {
  if (outcome.kind !== "failed") return true;
  const { error } = outcome;
  if (!(error instanceof LatchkeyError)) return true;
  return !REFUSALS.has(error.code) && error.outcome !== "not-applied";
}

/** Whether a call returned. */
export function hasReturned({ outcome }: Call): boolean {
  return outcome.kind === "returned";
}

/** The value that a call returned, or an empty object. */
export function returnedBy<Value>({ outcome }: Call): Partial<Value> {
  return outcome.kind === "returned" ? ((outcome.value ?? {}) as Partial<Value>) : {};
}

/** Whether a call's answer confirms the state that it asked for: it returned, or the key it deletes does not exist. */
export function hasResolved(call: Call): boolean {
  const { action, args, outcome } = call;
  const isDeleting = action === "deleteKey" || args.does === "revoke";
  if (!isDeleting || outcome.kind !== "failed") return hasReturned(call);
  return outcome.error instanceof LatchkeyError && outcome.error.code === "NOT_FOUND";
}
