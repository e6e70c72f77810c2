import type { Emit } from "../audit/emitter.js";
import { buildAuditEntry, type ChangeDescription } from "../audit/entry.js";
import { toAuditEvent } from "../audit/event.js";
import { badRequest, LatchkeyError, unmet } from "../errors.js";
import { decodeCursor, type ListScope } from "../lib/cursor.js";
import type { IdFactory, RandomBytes } from "../lib/id.js";
import type { LruCache } from "../lib/lru-cache.js";
import type { ApiRecord } from "../records/api.js";
import { type AuditEntry, auditEntryType } from "../records/audit-entry.js";
import type { RootKeyPointer } from "../records/root-key.js";
import type { RecordKind } from "../records/stored-record.js";
import type { MetaSchema } from "../rules/latchkey-types.js";
import type { NoticeSettings } from "../rules/notice.js";
import type { SecretHasher } from "../secrets/hash.js";
import type { TokenSigner } from "../secrets/token-signer.js";
import type { Vault } from "../secrets/vault.js";
import type { Crossings } from "../statistics/crossings.js";
import type { StatisticsRecorder } from "../statistics/recorder.js";
import type { SettledStore } from "../store/settled-store.js";
import type { Transact, Transaction, TransactionResult } from "../store/transaction.js";
import type { Clock, EpochMs, Timer } from "../time.js";
import type { Catalog } from "../verification/catalog.js";
import type { KeyCache, ReservedKey } from "../verification/key-cache.js";
import type { KnownIds } from "./known-ids.js";

/**
 * What every operation works with. One workspace; everything else is shared by all workspaces of a latchkey. Its internal
 * parts are left out of the published types, with all that they are made of.
 */
export interface OperationContext {
  readonly store: SettledStore;
  /** @internal */
  readonly transact: Transact;
  /** @internal */
  readonly catalog: Catalog;
  readonly workspaceId: string;
  readonly now: Clock;
  /** The store's own clock; of a store without one that of the machine. @internal */
  readonly readStoreClock: () => EpochMs | Promise<EpochMs>;
  readonly newId: IdFactory;
  readonly random: RandomBytes;
  /** @internal */
  readonly hasher: SecretHasher;
  /** Null when no vault is configured: nothing can be made recoverable. @internal */
  readonly vault: Vault | null;
  /** Signs tokens; null without keys for them. @internal */
  readonly tokens: TokenSigner | null;
  /** Recently verified keys. @internal */
  readonly cache: KeyCache;
  /** Keys of open reservations that this process made, by reservation id. @internal */
  readonly reserved: LruCache<ReservedKey>;
  /** Where root keys are that were used lately, by plain hash. @internal */
  readonly rootKeys: LruCache<RootKeyPointer>;
  readonly knownIds: KnownIds;
  /** APIs that this process read, by workspace and id: the commit finds out whether they are still so. @internal */
  readonly knownApis: LruCache<ApiRecord>;
  /** What a portal session bounds a call to; null: it is called by the host. @internal */
  readonly confinedTo: Confines | null;
  /** The actor in the audit log; null for none. */
  readonly actor: string | null;
  /** What checks the metadata of keys; null: nothing but its bounds. */
  readonly keyMeta: MetaSchema | null;
  /** What checks the metadata of identities, but for `{}`; null: nothing but its bounds. */
  readonly identityMeta: MetaSchema | null;
  /** Whether changes are written to the audit log. */
  readonly keepsAuditLog: boolean;
  /** When something is noticed. */
  readonly notice: NoticeSettings;
  /** Null without a listener: then nothing is measured either. */
  readonly emit: Emit | null;
  /** Clock for the durations of events. */
  readonly timer: Timer;
  /** Waits until the leases of a workspace have ended that are out by now. @internal */
  readonly awaitLeases: (workspaceId: string) => Promise<void>;
  /** Remembers writes for repeats; null without an `idempotencyKey`. @internal */
  readonly call: CallPart | null;
  /** Reads of the end of an audit log that are under way, by workspace: entries that are made now are written behind what these find. @internal */
  readonly readsOfLogEnd: Map<string, Promise<unknown>>;
  /** What is seen of uses and limits, to be noticed; null where uses are not counted, or there is no audit log. @internal */
  readonly crossings: Crossings | null;
  /** Counts verifications; null with `usage: false`. @internal */
  readonly recorder: StatisticsRecorder | null;
}

/** What a portal session bounds every call to: keys of one identity, in these APIs. */
export interface Confines {
  readonly identityId: string;
  readonly apiIds: readonly string[];
  /** Most keys in all of these APIs together. */
  readonly maxKeys: number | undefined;
  /** Reads the session, so that the commit is based on it. @throws LatchkeyError `UNAUTHORIZED` if it has ended. */
  readonly confirm: (transaction: Transaction) => Promise<void>;
}

/** How the transactions of an operation are remembered. */
export interface CallPart {
  /** Runs a transaction, and remembers its result in the same commit; one without a result is a step. @throws AnsweredBefore if it was completed. */
  transact<Answer>(
    work: (transaction: Transaction) => Promise<Answer>,
  ): Promise<TransactionResult<Answer>>;
  /** Resolves once it is known that the call was not carried out to its end before. @throws AnsweredBefore */
  isFirst(): Promise<void>;
  /** From now on each transaction is a step: it is carried out once, and a repeat continues after it. */
  inSteps(): CallPart;
  /** From now on each transaction is a round of one step. A repeat begins it anew, and finds less to do. `countOf`: what is counted. */
  inRounds<Answer>(countOf: (answer: Answer) => number): Rounds;
  /** A generated value, such as an id: a repeat uses the same one. */
  madeOnce<Answer>(make: () => Answer): Promise<Answer>;
  /** Nothing is remembered: it is no write. */
  forgo(): void;
}

export interface Rounds extends CallPart {
  /** The sum of what was counted, by this call and those that it repeats. `own`: that of this call. */
  total(own: number): Promise<number>;
}

/** What an operation works with while it writes. */
export interface Work {
  readonly context: OperationContext;
  readonly transaction: Transaction;
  /** Adds the entry of a change to the audit log, in the same transaction. */
  readonly audit: (change: ChangeDescription) => void;
}

/** Runs an operation as a transaction, committed with its audit entries if what it read still holds. `run`: it may run several times. */
export async function transact<Answer>(
  context: OperationContext,
  run: (work: Work) => Promise<Answer>,
): Promise<Answer> {
  return (await transactUses(context, run)).answer;
}

/** As {@link transact}, for an operation that answers the uses which are left after its commit. */
export async function transactUses<Answer>(
  context: OperationContext,
  run: (work: Work) => Promise<Answer>,
): Promise<TransactionResult<Answer>> {
  const { confinedTo, emit, timer } = context;
  const startedAt = emit === null ? 0 : timer();
  let entries: AuditEntry[] = [];
  const result = await commit(context, async (transaction) => {
    entries = [];
    if (confinedTo !== null) await confinedTo.confirm(transaction);
    const audit: Work["audit"] = (change) => {
      const entry = buildAuditEntry(context, change);
      entries.push(entry);
      if (context.keepsAuditLog) transaction.insert(auditEntryType, entry);
    };
    const answer = await run({ context, transaction, audit });
    const reading = context.readsOfLogEnd.get(context.workspaceId);
    if (reading !== undefined && entries.length > 0) await reading;
    return answer;
  });
  if (emit !== null && entries.length > 0) {
    const durationMs = timer() - startedAt;
    for (const entry of entries) emit({ ...toAuditEvent(entry), durationMs });
  }
  return result;
}

function commit<Answer>(
  { call, workspaceId, transact }: OperationContext,
  work: (transaction: Transaction) => Promise<Answer>,
): Promise<TransactionResult<Answer>> {
  return call === null ? transact(workspaceId, work) : call.transact(work);
}

/** Runs work that follows a write. If the store fails now, the change has happened, at least in part: the error has the outcome `unknown`. */
export async function afterWriting<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LatchkeyError) || error.code !== "STORE_UNAVAILABLE") throw error;
    const { code, message, reason } = error;
    throw new LatchkeyError(code, message, {
      cause: error,
      outcome: "unknown",
      ...(reason !== undefined && { reason }),
    });
  }
}

/**
 * For an operation with several commits that return something, or one that reads its result after its commit: a repeat carries out what is
 * missing. An operation that returns the result of its only commit does not need this.
 */
export function inSteps(context: OperationContext): OperationContext {
  return context.call === null ? context : { ...context, call: context.call.inSteps() };
}

/** For a step of many similar commits, of which a repeat makes the missing ones. `total`: from the sum of this call to that of all its repeats. */
export function inRounds<Answer>(
  context: OperationContext,
  countOf: (answer: Answer) => number,
): { readonly round: OperationContext; readonly total: (own: number) => Promise<number> } {
  if (context.call === null) return { round: context, total: async (own) => own };
  const call = context.call.inRounds(countOf);
  return { round: { ...context, call }, total: (own) => call.total(own) };
}

/** The vault, for an operation that cannot do without. @throws LatchkeyError `PRECONDITION_FAILED` without one. */
export function requireVault({ vault }: OperationContext): Vault {
  if (vault !== null) return vault;
  throw unmet("no-vault", "no vault is configured, so no secret can be stored or read back");
}

/** What records are called that are not called by their kind. */
const NAMES: { readonly [Kind in RecordKind]?: string } = {
  api: "API",
  rootKey: "root key",
  delivery: "dead letter",
  portalSession: "portal session",
};

/** The error for a record that does not exist in this workspace. */
export function notFound(kind: RecordKind | "reservation"): LatchkeyError {
  const name = kind === "reservation" ? kind : (NAMES[kind] ?? kind);
  return new LatchkeyError("NOT_FOUND", `no such ${name}`);
}

/** The error for a random source that returned the same bytes twice. `what`: what was not created. */
export function randomRepeated(what: string): LatchkeyError {
  return new LatchkeyError("INTERNAL_SERVER_ERROR", `"random" repeated itself; ${what}`);
}

/** Where a page starts: after the item that the cursor names. @throws LatchkeyError `BAD_REQUEST` for one that is damaged or of another list. */
export function afterCursor(
  scope: ListScope,
  cursor: string | undefined,
  form?: RegExp,
): string | null {
  if (cursor === undefined) return null;
  const position = decodeCursor(scope, cursor, form);
  if (position === null)
    throw badRequest([{ path: "cursor", message: "must be a cursor that this list answered" }]);
  return position;
}
