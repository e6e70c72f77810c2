import { createEmitter, type EventListener } from "./audit/emitter.js";
import { emitExpired } from "./audit/reservation-events.js";
import { emitStoreFailures } from "./audit/store-events.js";
import { type ErrorListener, report, warnOfFailure, warnOfListener } from "./lib/error-listener.js";
import { waitFor } from "./lib/event-loop.js";
import { createIdFactory, type RandomBytes } from "./lib/id.js";
import { createLruCache } from "./lib/lru-cache.js";
import { checkedRandom, createRandomPool } from "./lib/random.js";
import { endLeases } from "./operations/after-leases.js";
import { checkedActor, type OperationContext } from "./operations/context.js";
import {
  createDeliveries,
  DELIVERIES,
  type Deliveries,
} from "./operations/deliveries/deliveries.js";
import { writeAllCrossings } from "./operations/events/write-crossings.js";
import { KnownIds, MAX_KNOWN_APIS } from "./operations/known-ids.js";
import { bindLists, type Lists } from "./operations/lists.js";
import { bindOperations, type Operations } from "./operations/operations.js";
import { requireSigner } from "./operations/tokens/exchange-key.js";
import type { VerifyScope } from "./operations/verify-key/operations.js";
import {
  makeVerifier,
  type Verifier,
  type VerifierInput,
} from "./operations/verify-key/verifier.js";
import { DEFAULT_WORKSPACE_ID, WORKSPACE_ID_PATTERN } from "./records/workspace.js";
import { type Duration, durationMs } from "./rules/duration.js";
import type { DefaultTypes, LatchkeyTypes, MetaSchema, TypesOf } from "./rules/latchkey-types.js";
import { readLeaseMs } from "./rules/lease.js";
import { readNoticeSettings } from "./rules/notice.js";
import { createSecretHasher } from "./secrets/hash.js";
import { isKeyRing, type KeyRing, refuseSharedSecrets } from "./secrets/key-ring.js";
import { createTokenSigner, type TokenKeyRing, type TokenKeySet } from "./secrets/token-signer.js";
import { createVault } from "./secrets/vault.js";
import { createCrossings } from "./statistics/crossings.js";
import { createStatisticsRecorder, DEFAULT_FLUSH_MS, MAX_FLUSH_MS } from "./statistics/recorder.js";
import { createAvailabilityStore } from "./store/availability.js";
import { watchClock } from "./store/clock-check.js";
import type { KeyStore } from "./store/key-store.js";
import { createLeasedStore } from "./store/leased.js";
import { createSettledStore } from "./store/settled.js";
import { createTransact } from "./store/transaction.js";
import { type Clock, createMonotonicClock, type Timer } from "./time.js";
import { Catalog } from "./verification/catalog.js";
import { KeyCache } from "./verification/key-cache.js";

/** Options of {@link createLatchkey}. */
export interface LatchkeyOptions<
  Permission extends string = string,
  Ratelimit extends string = string,
  Meta extends MetaSchema | undefined = MetaSchema | undefined,
  IdentityMeta extends MetaSchema | undefined = MetaSchema | undefined,
> {
  /** Where keys live. */
  readonly store: KeyStore;
  /** Tenant that the operations work in: 1 to 64 of `A-Z a-z 0-9 _ -`. `ws_default` unless given. */
  readonly workspaceId?: string;
  /** Ring of 32-byte keys that recoverable secrets are encrypted with. Without it nothing can be made recoverable. */
  readonly vault?: KeyRing;
  /** Ring of server-side secrets of 32 to 64 bytes that hashes are keyed with. Losing it loses every key. */
  readonly pepper?: KeyRing;
  /** Keys that exchangeKey signs tokens with: seeds of 32 random bytes each. All of them are published, the current one signs. */
  readonly tokens?: TokenKeyRing;
  /** Answers the current instant in whole ms since the Unix epoch. The host's clock unless given. */
  readonly clock?: Clock;
  /** Source of unpredictable bytes. The host's Web Crypto unless given. */
  readonly random?: RandomBytes;
  /** Most keys kept for warm verifications: a whole number >= 0, 32,768 unless given. Never a stale answer. */
  readonly maxCachedKeys?: number;
  /** Whether every change of configuration is also written to the audit log, in the same transaction. True unless given. */
  readonly auditLog?: boolean;
  /**
   * When `notice` notices something. Where it is given, a process writes what it sees of uses and limits with its counts of
   * verifications; elsewhere only when its own `notice` is called.
   */
  readonly notice?: {
    /** How long before that a key expires soon: ms, or a text such as `"7d"`, which it is unless given. */
    readonly expiresWithin?: Duration;
    /** Below how many uses they are low: a number, or a share of what a refill brings, such as 0.1. Never unless given. */
    readonly usesBelow?: number;
    /** Above which share of it a limit is near: 0.8 unless given. */
    readonly limitAbove?: number;
  };
  /**
   * How verifications are counted: every `flushMs` (1 to 3,600,000 ms, 5,000 unless given) the counts are written to the
   * store, and a crash may lose what was counted since. False: not at all.
   */
  readonly usage?:
    | false
    | {
        /** How often counts are written: 1 to 3,600,000 ms, or a text such as `"5s"`; 5,000 unless given. */
        readonly flushMs?: Duration;
      };
  /**
   * Lets this process decide by itself about keys that it verified a moment ago, without asking the store. A change that takes something
   * away then resolves later by `ms`, and not before every process has stopped deciding as if it had not been made. For keys without
   * uses and limits: others ask the store. Off unless given; every process of the store must know of leases before.
   */
  readonly leases?:
    | {
        /** How long, in ms or as a text such as `"1s"`: 10 ms to 10 s. */
        readonly ms: Duration;
        /** The most that one process takes ahead of what is left of a counter, from 0 to 1; 0.01 unless given. No counter is leased so far. */
        readonly share?: number;
      }
    | undefined;
  /**
   * Names of the permissions that the program knows. Types alone: where one is given, another does not compile, but for wildcards
   * that are held; nothing is created, and nothing refused at run time. Any text unless given.
   */
  readonly permissions?: readonly Permission[] | undefined;
  /** Names of the rate limits that the program knows, beside `default`. Types alone, as `permissions`. */
  readonly ratelimits?: readonly Ratelimit[] | undefined;
  /**
   * Schema of the metadata of keys, of any library with Standard Schema (zod, valibot, arktype …). It is asked whenever metadata is
   * written; what it answers is kept, and its types are those of what is read. Keys without metadata are not asked about.
   */
  readonly meta?: Meta;
  /** Schema of the metadata of identities, as `meta` of keys. `{}`, which an identity has at first, is not asked about. */
  readonly identityMeta?: IdentityMeta;
  /** Is called with every change, every verification and every failure of the store in this process. Nothing waits for it. */
  readonly onEvent?: EventListener;
  /**
   * Is called with failures that no caller waits for: statistics that could not be written, a clock that differs from the store's
   * by more than a minute, an `onEvent` that throws or rejects (once, and again after it has worked). Unless given, the last of
   * these is a warning on the console.
   */
  readonly onError?: ErrorListener;
}

/** Key and identity management over one store, in one workspace. */
export interface Latchkey<Types extends LatchkeyTypes = DefaultTypes>
  extends Operations<Types>,
    Lists<Types> {
  /** The workspace that these operations work in. */
  readonly workspaceId: string;
  /** The current instant as every operation sees it: Unix epoch ms, never going back. */
  readonly now: Clock;
  /**
   * Makes a function that asks one question about every key presented: the question is read and checked once, so that a guarded
   * route pays for the verification alone.
   *
   * @throws TypeError naming `apiId`, `permissions` or `ratelimits` that is there and undefined, or any field that is inherited: passed
   * over, it would ask nothing. LatchkeyError `BAD_REQUEST` naming every other bad field of the question, at once.
   * @example
   * const mayRead = latchkey.verifier({ permissions: "tiles.read" });
   * const verdict = await mayRead(key, { ipAddress });
   */
  verifier(question?: VerifierInput<Types>, scope?: VerifyScope): Verifier<Types>;
  /**
   * The public keys that tokens of exchangeKey are checked with, of all workspaces: a JWK Set, to be shown to everyone.
   *
   * @throws LatchkeyError `PRECONDITION_FAILED` without `tokens`, or where `jose` is not installed.
   * @example
   * const { keys } = await latchkey.jwks();
   */
  jwks(): Promise<TokenKeySet>;
  /**
   * The same operations for another tenant, over the same store.
   *
   * @throws TypeError unless the id is 1 to 64 of `A-Z a-z 0-9 _ -`.
   * @example
   * const theirs = latchkey.workspace("ws_northwind");
   */
  workspace(workspaceId: string): Latchkey<Types>;
  /**
   * The same operations on behalf of someone: what the audit log and events name as `actor`.
   *
   * @throws TypeError unless the name has 1 to 256 characters.
   * @example
   * await latchkey.actingAs("support").deleteKey({ keyId });
   */
  actingAs(actor: string): Latchkey<Types>;
  /**
   * Ends all leases of this workspace: no process is given another one, and when this resolves the last has ended, and no change waits
   * any more. A latchkey that is made afterwards with `leases` begins again.
   *
   * @throws LatchkeyError `STORE_UNAVAILABLE`.
   * @example
   * await latchkey.endLeases();
   */
  endLeases(): Promise<void>;
  /**
   * Writes the counts of verifications that the store does not have yet, then closes it.
   *
   * @throws LatchkeyError `STORE_UNAVAILABLE`.
   * @example
   * await latchkey.close();
   */
  close(): Promise<void>;
  /** Never there: it carries the types of this latchkey to what is made of it, such as guards. */
  readonly "~types"?: Types;
}

const DEFAULT_CACHED_KEYS = 32_768;

/** Root keys whose place in the store is remembered, about 300 bytes each. */
const MAX_KNOWN_ROOT_KEYS = 1_000;

/** Reservations of which it is remembered what restores their uses, about 150 bytes each. */
const MAX_KNOWN_RESERVATIONS = 10_000;

/** A misspelt `pepper` must not make a latchkey without one. */
const KNOWN_OPTIONS: ReadonlySet<string> = new Set([
  "store",
  "workspaceId",
  "vault",
  "pepper",
  "tokens",
  "clock",
  "random",
  "maxCachedKeys",
  "auditLog",
  "notice",
  "usage",
  "leases",
  "onEvent",
  "onError",
  "permissions",
  "ratelimits",
  "meta",
  "identityMeta",
] satisfies (keyof LatchkeyOptions)[]);

/**
 * Makes a latchkey over a store.
 *
 * @throws TypeError naming the option that is wrong and its bound.
 * @example
 * const latchkey = createLatchkey({ store: memoryStore(), permissions: ["docs.read", "docs.write"] });
 */
export function createLatchkey<
  const Permission extends string = string,
  const Ratelimit extends string = string,
  Meta extends MetaSchema | undefined = undefined,
  IdentityMeta extends MetaSchema | undefined = undefined,
>(
  options: LatchkeyOptions<Permission, Ratelimit, Meta, IdentityMeta>,
): Latchkey<TypesOf<Permission, Ratelimit, Meta, IdentityMeta>> {
  if (typeof options !== "object" || options === null)
    throw new TypeError("createLatchkey needs an object of options, with a store");
  const unknown = Object.keys(options).find((name) => !KNOWN_OPTIONS.has(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option of createLatchkey`);
  const {
    workspaceId = DEFAULT_WORKSPACE_ID,
    clock = Date.now,
    random = createRandomPool(),
    maxCachedKeys = DEFAULT_CACHED_KEYS,
    auditLog = true,
    usage = {},
    leases,
    onEvent = null,
    onError = null,
    meta = null,
    identityMeta = null,
  } = options;
  if (typeof options.store?.charge !== "function")
    throw new TypeError('"store" must be a KeyStore, such as memoryStore()');
  if (!Number.isSafeInteger(maxCachedKeys) || maxCachedKeys < 0) {
    throw new TypeError('"maxCachedKeys" must be a whole number >= 0');
  }
  if (typeof clock !== "function") throw new TypeError('"clock" must be a function');
  if (typeof random !== "function") throw new TypeError('"random" must be a function');
  for (const name of ["vault", "pepper", "tokens"] as const)
    if (options[name] !== undefined && !isKeyRing(options[name]))
      throw new TypeError(`"${name}" must be a key ring: { current, keys }`);
  if (typeof auditLog !== "boolean") throw new TypeError('"auditLog" must be true or false');
  if (onEvent !== null && typeof onEvent !== "function")
    throw new TypeError('"onEvent" must be a function');
  if (onError !== null && typeof onError !== "function")
    throw new TypeError('"onError" must be a function');
  for (const name of ["permissions", "ratelimits"] as const)
    if (options[name] !== undefined && !isListOfTexts(options[name]))
      throw new TypeError(`"${name}" must be a list of names`);
  for (const name of ["meta", "identityMeta"] as const)
    if (options[name] !== undefined && typeof options[name]["~standard"]?.validate !== "function")
      throw new TypeError(`"${name}" must be a schema with Standard Schema`);
  const bytes = checkedRandom(random);
  const now = createMonotonicClock(clock);
  const hasOwnClock = options.clock !== undefined;
  const steady: Timer = () => performance.now();
  const timer: Timer = hasOwnClock ? now : steady;
  const emit = onEvent === null ? null : createEmitter(onEvent, onError ?? warnOfListener);
  const own = emit === null ? options.store : emitStoreFailures(options.store, emit, now, timer);
  const available = createAvailabilityStore(own, bytes);
  const settled = createSettledStore(available, now, (...noticed) => emitExpired(emit, ...noticed));
  const leaseMs = leases === undefined ? null : readLeaseMs(leases);
  const store = leaseMs === null ? settled : createLeasedStore(settled, available, leaseMs, steady);
  const notice = readNoticeSettings(options.notice);
  const shared: Omit<OperationContext, "workspaceId"> = {
    store,
    now,
    readStoreClock: store.readClock ?? Date.now,
    random: bytes,
    newId: createIdFactory(now, bytes),
    hasher: createSecretHasher(options.pepper ?? null),
    vault: options.vault === undefined ? null : createVault(options.vault, bytes),
    tokens: options.tokens === undefined ? null : createTokenSigner(options.tokens),
    transact: createTransact(store, bytes),
    catalog: new Catalog(store),
    cache: new KeyCache(maxCachedKeys),
    reserved: createLruCache(MAX_KNOWN_RESERVATIONS),
    rootKeys: createLruCache(MAX_KNOWN_ROOT_KEYS),
    knownIds: new KnownIds(),
    knownApis: createLruCache(MAX_KNOWN_APIS),
    confinedTo: null,
    actor: null,
    keyMeta: meta,
    identityMeta,
    keepsAuditLog: auditLog,
    notice,
    emit,
    timer,
    awaitLeases: (workspaceId) => waitFor(available.leaseWait(workspaceId), steady),
    call: null,
    crossings: usage === false || !auditLog ? null : createCrossings(notice),
    recorder:
      usage === false
        ? null
        : createStatisticsRecorder(store, checkedFlushMs(usage), onError, undefined, () =>
            writeAllCrossings(shared),
          ),
  };
  const { vault, pepper, tokens } = options;
  refuseSharedSecrets({ vault, pepper, tokens });
  const stopWatching =
    store.readClock === undefined || hasOwnClock || onError === null
      ? () => undefined
      : watchClock(store, now, (difference) => report(onError, difference));
  const whole: SharedContext = {
    ...shared,
    close: () => close(shared, stopWatching),
    report: (error) => report(onError ?? warnOfFailure, error),
    endLeases: (id) => endLeases(available, id, (ms) => waitFor(ms, steady)),
  };
  const bound = bindWorkspace(whole, workspaceId);
  // The types say what a program knows, and nothing of it is another function.
  return bound as unknown as Latchkey<TypesOf<Permission, Ratelimit, Meta, IdentityMeta>>;
}

/** What all workspaces of a latchkey share, and how it is closed. */
type SharedContext = Omit<OperationContext, "workspaceId"> & {
  readonly close: () => Promise<void>;
  readonly report: ErrorListener;
  readonly endLeases: (workspaceId: string) => Promise<void>;
};

function bindWorkspace(shared: SharedContext, workspaceId: string): Latchkey {
  if (typeof workspaceId !== "string" || !WORKSPACE_ID_PATTERN.test(workspaceId)) {
    throw new TypeError('"workspaceId" must be 1 to 64 characters of A-Z a-z 0-9 _ -');
  }
  const context: OperationContext = { ...shared, workspaceId };
  const operations = bindOperations(context);
  const latchkey: Latchkey & { readonly [DELIVERIES]: () => Deliveries } = {
    [DELIVERIES]: () => createDeliveries(context, shared.report),
    workspaceId,
    now: shared.now,
    workspace: (otherId) => bindWorkspace(shared, otherId),
    actingAs: (actor) => bindWorkspace({ ...shared, actor: checkedActor(actor) }, workspaceId),
    verifier: (question, scope) => makeVerifier(context, question, scope),
    ...operations,
    ...bindLists(operations),
    endLeases: () => shared.endLeases(workspaceId),
    jwks: async () => requireSigner(shared).publicKeys(),
    close: shared.close,
  };
  return latchkey;
}

/** What was counted is written first. */
async function close(
  { recorder, store }: Pick<OperationContext, "recorder" | "store">,
  stopWatching: () => void,
): Promise<void> {
  stopWatching();
  if (recorder !== null) await recorder.flush();
  await store.close();
}

/** A misspelt `flushMs` must not become the usual one. */
function checkedFlushMs(usage: unknown): number {
  if (typeof usage !== "object" || usage === null)
    throw new TypeError('"usage" must be false or { flushMs }');
  const unknown = Object.keys(usage).find((name) => name !== "flushMs");
  if (unknown !== undefined) throw new TypeError(`"usage.${unknown}" is not an option`);
  const { flushMs = DEFAULT_FLUSH_MS } = usage as { readonly flushMs?: unknown };
  const everyMs = durationMs(flushMs);
  if (everyMs !== null && everyMs <= MAX_FLUSH_MS) return everyMs;
  throw new TypeError(
    `"usage.flushMs" must be a whole number from 1 to ${MAX_FLUSH_MS}, or a text such as "5s"`,
  );
}

function isListOfTexts(names: unknown): boolean {
  return Array.isArray(names) && names.every((name) => typeof name === "string");
}
