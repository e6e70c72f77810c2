import type { EventListener } from "../audit/emitter.js";
import { badRequest, LatchkeyError } from "../errors.js";
import { decodeCursor, type ListScope } from "../lib/cursor.js";
import type { IdFactory, RandomBytes } from "../lib/id.js";
import type { KeyCache } from "../lib/lru-cache.js";
import type { ApiRecord } from "../records/api.js";
import type { SecretHasher } from "../secrets/hash.js";
import type { Vault } from "../secrets/vault.js";
import type { CountedKey } from "../statistics/buffer.js";
import type { VerificationCounter } from "../statistics/recorder.js";
import type { IdentityLookup, KeyStore } from "../store/wide-store.js";
import type { Clock } from "../time.js";
import type { MissingGrants } from "./keys/write.js";

/** What every operation works with. One workspace; everything else is shared by all workspaces of a latchkey. */
export interface OperationContext {
  readonly store: KeyStore;
  readonly workspaceId: string;
  readonly now: Clock;
  readonly newId: IdFactory;
  readonly random: RandomBytes;
  readonly hasher: SecretHasher;
  /** Null when no vault is configured: nothing can be made recoverable. */
  readonly vault: Vault | null;
  readonly cache: KeyCache<CountedKey>;
  /** Records that warm keys share. */
  readonly apis: KeyCache<ApiRecord>;
  /** Who acts, as the audit log names them; null for nobody in particular. */
  readonly actor: string | null;
  /** Whether changes are written to the audit log. */
  readonly keepsAuditLog: boolean;
  /** Who hears of events; null for nobody. */
  readonly onEvent: EventListener | null;
  /** Counts verifications; null where nobody wants to know. */
  readonly counter: VerificationCounter | null;
}

/** Lost races after which an update gives up: far more than any burst of writers to one record needs. */
const MAX_ATTEMPTS = 500;

/**
 * Repeats a read-decide-write step until its guarded write meets the version that it was decided on. Each round
 * one of the racers wins, so every one of them gets through.
 *
 * @param attempt - Reads afresh and answers `stale` when its write lost the race.
 * @throws LatchkeyError `CONFLICT` when the record changed under every attempt; nothing was written.
 */
export async function untilFresh<Result>(
  attempt: () => Promise<Result | "stale">,
): Promise<Result> {
  for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
    const result = await attempt();
    if (result !== "stale") return result;
  }
  throw new LatchkeyError("CONFLICT", "the record kept changing; nothing was written, try again");
}

/** The vault, for an operation that cannot do without. @throws LatchkeyError `PRECONDITION_FAILED` without one. */
export function requireVault({ vault }: OperationContext): Vault {
  if (vault !== null) return vault;
  throw new LatchkeyError(
    "PRECONDITION_FAILED",
    "no vault is configured, so no secret can be stored or read back",
  );
}

/** The error for a record that does not exist in this workspace. */
export function notFound(
  what: "API" | "key" | "identity" | "role" | "permission" | "root key" | "workspace",
): LatchkeyError {
  return new LatchkeyError("NOT_FOUND", `no such ${what}`);
}

/** The error for roles or permissions that do not exist: all of them, by name. */
export function missingGrants({ roles, permissions }: MissingGrants): LatchkeyError {
  const named = [
    ...(roles.length > 0 ? [`roles ${roles.join(", ")}`] : []),
    ...(permissions.length > 0 ? [`permissions ${permissions.join(", ")}`] : []),
  ];
  return new LatchkeyError(
    "PRECONDITION_FAILED",
    `these do not exist: ${named.join("; ")}; nothing was written`,
  );
}

/**
 * How an identity is looked up; `identityId` wins when both ids are given.
 *
 * @throws LatchkeyError `BAD_REQUEST` without either.
 */
export function identityLookup(input: {
  readonly identityId?: string | undefined;
  readonly externalId?: string | undefined;
}): IdentityLookup {
  if (input.identityId !== undefined) return { identityId: input.identityId };
  if (input.externalId !== undefined) return { externalId: input.externalId };
  throw badRequest([{ path: "identityId", message: "is required where externalId is not given" }]);
}

/**
 * Where a page starts: after the item that the cursor names, or at the beginning.
 *
 * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or belongs to another list.
 */
export function afterCursor(scope: ListScope, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const afterId = decodeCursor(scope, cursor);
  if (afterId === null)
    throw badRequest([{ path: "cursor", message: "must be a cursor that this list answered" }]);
  return afterId;
}
