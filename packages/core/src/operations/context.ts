import type { Emit } from "../audit/emitter.js";
import { buildAuditEntry, type ChangeDescription, toAuditEvent } from "../audit/entry.js";
import { badField, LatchkeyError, unmet } from "../errors.js";
import { decodeCursor, type ListScope } from "../lib/cursor.js";
import type { IdFactory, RandomBytes } from "../lib/id.js";
import { createLruCache, type LruCache } from "../lib/lru-cache.js";
import type { ApiRecord } from "../records/api.js";
import { type AuditEntry, auditEntryType } from "../records/audit-entry.js";
import type { RecordKind } from "../records/record-type.js";
import type { RootKeyPointer } from "../records/root-key.js";
import type { MetaSchema } from "../rules/latchkey-types.js";
import type { NoticeSettings } from "../rules/notice.js";
import type { SecretHasher } from "../secrets/hash.js";
import type { TokenSigner } from "../secrets/token-signer.js";
import type { Vault } from "../secrets/vault.js";
import type { Crossings } from "../statistics/crossings.js";
import type { StatisticsRecorder } from "../statistics/recorder.js";
import type { Want } from "../store/key-store.js";
import type { SettledStore } from "../store/settled-store.js";
import type { Transact, Transaction, TransactionResult } from "../store/transaction.js";
import type { Clock, EpochMs, Timer } from "../time.js";
import type { Catalog } from "../verification/catalog.js";
import type { KeyCache, ReservedKey } from "../verification/key-cache.js";

/**
 * What every operation works with, in one workspace; all workspaces of a latchkey share the rest. The published types leave out the
 * internal parts, and the types that only these use.
 */
export interface OperationContext {
  readonly store: SettledStore;
  /** @internal */
  readonly transact: Transact;
  /** @internal */
  readonly catalog: Catalog;
  readonly workspaceId: string;
  readonly now: Clock;
  /** The store's clock; the machine's clock if the store has none. @internal */
  readonly readStoreClock: () => EpochMs | Promise<EpochMs>;
  readonly newId: IdFactory;
  readonly random: RandomBytes;
  /** @internal */
  readonly hasher: SecretHasher;
  /** Null if no vault is configured: no secret can be recoverable. @internal */
  readonly vault: Vault | null;
  /** Signs tokens; null without keys for them. @internal */
  readonly tokens: TokenSigner | null;
  /** Recently verified keys. @internal */
  readonly cache: KeyCache;
  /** Keys of open reservations that this process made, by reservation id. @internal */
  readonly reserved: LruCache<ReservedKey>;
  /** Places of recently used root keys, by plain hash. @internal */
  readonly rootKeys: LruCache<RootKeyPointer>;
  readonly knownIds: KnownIds;
  /** APIs that this process has read, by workspace and id. They may be stale: the commit finds out. @internal */
  readonly knownApis: LruCache<ApiRecord>;
  /** Bounds of the portal session that makes the call; null: the host makes it. @internal */
  readonly confinedTo: Confines | null;
  /** The actor in the audit log; null for none. */
  readonly actor: string | null;
  /** Schema for the metadata of keys; null: only its bounds are checked. */
  readonly keyMeta: MetaSchema | null;
  /** Schema for the metadata of identities, except `{}`; null: only its bounds are checked. */
  readonly identityMeta: MetaSchema | null;
  readonly keepsAuditLog: boolean;
  readonly notice: NoticeSettings;
  /** Null without a listener: then no durations are measured either. */
  readonly emit: Emit | null;
  /** Clock for the durations of events. */
  readonly timer: Timer;
  /** Waits until all leases granted so far in a workspace have ended. @internal */
  readonly awaitLeases: (workspaceId: string) => Promise<void>;
  /** Remembers writes for repeats; null without an `idempotencyKey`. @internal */
  readonly call: CallPart | null;
  /** Pending reads of the end of an audit log, by workspace. Commits with new entries wait for them, to come after that end. @internal */
  readonly readsOfLogEnd: Map<string, Promise<unknown>>;
  /** Crossed thresholds of uses and limits, for `notice`; null with `usage: false` or `auditLog: false`. @internal */
  readonly crossings: Crossings | null;
  /** Counts verifications; null with `usage: false`. @internal */
  readonly recorder: StatisticsRecorder | null;
}

/** What a portal session confines every call to: the keys of one identity, in these APIs. */
export interface Confines {
  readonly identityId: string;
  readonly apiIds: readonly string[];
  /** Most keys in all of these APIs together. */
  readonly maxKeys: number | undefined;
  /** Reads the session, so that the commit depends on it. @throws LatchkeyError `UNAUTHORIZED` if it has ended. */
  readonly confirm: (transaction: Transaction) => Promise<void>;
}

/** The actor of all portal sessions of an identity, where the host names none. */
export function portalActor(identityId: string): string {
  return `portal session of ${identityId}`;
}

/** The result of a transaction of a call. */
export interface CallResult<Answer> extends TransactionResult<Answer> {
  /** Whether the result was remembered: this attempt wrote nothing. */
  readonly isRemembered?: boolean;
}

/** Remembers the transactions of a call for its repeats. */
export interface CallPart {
  /** Runs a transaction, and remembers its result in the same commit; one without a result is a step. @throws AnsweredBefore */
  transact<Answer>(
    work: (transaction: Transaction) => Promise<Answer>,
  ): Promise<CallResult<Answer>>;
  /** Resolves if the call was not completed before. @throws AnsweredBefore */
  isFirst(): Promise<void>;
  /** From now on, each transaction is a step: it runs once, and a repeat continues after it. */
  inSteps(): CallPart;
  /** From now on, each transaction is a round of one step, which a repeat starts again. `countOf`: the count to add up. */
  inRounds<Answer>(countOf: (answer: Answer) => number): Rounds;
  /** A generated value, such as an id: a repeat uses the same one. */
  madeOnce<Answer>(make: () => Answer): Promise<Answer>;
  /** Does not remember the result of the call: a repeat runs as a new call. */
  forgo(): void;
}

export interface Rounds extends CallPart {
  /** The total count of this call and of those that it repeats. `own`: the count of this call. */
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

/** Commits an empty change: when it resolves, what was read before is durable, unless the store has failed over since. */
export async function confirmReads(context: OperationContext): Promise<void> {
  await transact(context, async () => undefined);
}

/** Finds something, or null once that is durable: looks again then, because a store that failed over meanwhile may have it back. */
export async function findDurably<Found>(
  context: OperationContext,
  find: () => Promise<Found | null>,
): Promise<Found | null> {
  const found = await find();
  if (found !== null) return found;
  await confirmReads(context);
  return find();
}

/** Like {@link transact}, for an operation that returns the uses left after its commit. */
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
  // If another process made this step meanwhile, the entries are those of an attempt that failed.
  if (emit !== null && entries.length > 0 && result.isRemembered !== true) {
    const durationMs = timer() - startedAt;
    for (const entry of entries) emit({ ...toAuditEvent(entry), durationMs });
  }
  return result;
}

function commit<Answer>(
  { call, workspaceId, transact }: OperationContext,
  work: (transaction: Transaction) => Promise<Answer>,
): Promise<CallResult<Answer>> {
  return call === null ? transact(workspaceId, work) : call.transact(work);
}

/**
 * For an operation with several commits that return something, or one that reads its result after its commit: a repeat does the
 * missing part. An operation that returns the result of its only commit does not need this.
 */
export function inSteps(context: OperationContext): OperationContext {
  return context.call === null ? context : { ...context, call: context.call.inSteps() };
}

/** For a step of many similar commits: a repeat makes the missing ones. `total`: turns the count of this call into that of all repeats. */
export function inRounds<Answer>(
  context: OperationContext,
  countOf: (answer: Answer) => number,
): { readonly round: OperationContext; readonly total: (own: number) => Promise<number> } {
  if (context.call === null) return { round: context, total: async (own) => own };
  const call = context.call.inRounds(countOf);
  return { round: { ...context, call }, total: (own) => call.total(own) };
}

/** The vault, for an operation that needs one. @throws LatchkeyError `PRECONDITION_FAILED` without one. */
export function requireVault({ vault }: OperationContext): Vault {
  if (vault !== null) return vault;
  throw unmet("no-vault", "no vault is configured, so no secret can be stored or read back");
}

/** Names of records in messages, where they differ from the kind. */
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
  return new LatchkeyError(
    "INTERNAL_SERVER_ERROR",
    `"random" returned the same bytes twice; ${what}`,
  );
}

/** Where a page starts: after the item that the cursor names. @throws LatchkeyError `BAD_REQUEST` for a cursor that is not of this list. */
export function afterCursor(
  scope: ListScope,
  cursor: string | undefined,
  form?: RegExp,
): string | null {
  if (cursor === undefined) return null;
  const position = decodeCursor(scope, cursor, form);
  if (position === null) throw badField("cursor", "must be a cursor that this list returned");
  return position;
}

export const MAX_KNOWN_APIS = 10_000;

/** Most ids in the cache, about 200 bytes each. */
const MAX_IDS = 20_000;

/**
 * Ids of records that this process found before, by name or by id. A name means the same record for as long as that exists, so an operation
 * may use the id without reading, and let the commit find out whether the record still exists.
 */
export class KnownIds {
  readonly #ids: LruCache<string> = createLruCache(MAX_IDS);

  /** The id of a record that was found, or null if unknown. */
  find(workspaceId: string, want: Want): string | null {
    return this.#ids.get(`${workspaceId} ${nameOf(want)}`) ?? null;
  }

  /** `id`: id of the record that was found, or null if there was none. */
  learn(workspaceId: string, want: Want, id: string | null): void {
    const name = `${workspaceId} ${nameOf(want)}`;
    if (id === null) this.#ids.delete(name);
    else this.#ids.set(name, id);
  }
}

/** A want as a text. Kinds and indexes contain no space; an id or a value may contain anything, so it comes last. */
export function nameOf(want: Want): string {
  return "id" in want ? `${want.kind} ${want.id}` : `${want.kind} ${want.index} ${want.value}`;
}
