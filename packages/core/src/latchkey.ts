import { createEmitter, type EventListener } from "./audit/emitter.js";
import { emitExpired } from "./audit/reservation-events.js";
import { emitStoreFailures } from "./audit/store-events.js";
import { bindLatchkey, type Latchkey, type SharedContext } from "./bound-latchkey.js";
import { type ErrorListener, report, warnOfFailure, warnOfListener } from "./lib/error-listener.js";
import { createIdFactory, type RandomBytes } from "./lib/id.js";
import { createLruCache } from "./lib/lru-cache.js";
import { meantHint } from "./lib/near-name.js";
import { assertFunction, assertOption, assertSwitch } from "./lib/options.js";
import { waitFor } from "./lib/promises.js";
import { checkedRandom, createRandomPool } from "./lib/random.js";
import { isWhole } from "./lib/whole.js";
import { endLeases } from "./operations/after-leases.js";
import { KnownIds, MAX_KNOWN_APIS, type OperationContext } from "./operations/context.js";
import { flushCrossings } from "./operations/events/notice.js";
import { DEFAULT_WORKSPACE_ID } from "./records/workspace.js";
import type { Duration } from "./rules/duration.js";
import type { MetaSchema, TypesOf } from "./rules/latchkey-types.js";
import { readLeases } from "./rules/lease.js";
import { readNoticeSettings } from "./rules/notice.js";
import { createSecretHasher } from "./secrets/hash.js";
import { isKeyRing, type KeyRing, refuseSharedSecrets } from "./secrets/key-ring.js";
import { createTokenSigner, type TokenKeyRing } from "./secrets/token-signer.js";
import { createVault } from "./secrets/vault.js";
import { createCrossings } from "./statistics/crossings.js";
import { createStatisticsRecorder, readRecorderSettings } from "./statistics/recorder.js";
import { createAvailabilityStore } from "./store/availability.js";
import { watchClock } from "./store/clock-check.js";
import type { KeyStore } from "./store/key-store.js";
import { createLeasedStore } from "./store/leased-store.js";
import { createSettledStore } from "./store/settled-store.js";
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
  /** The store that keeps the keys. */
  readonly store: KeyStore;
  /** The tenant whose records the operations use: 1 to 64 of `A-Z a-z 0-9 _ -`. Default: `ws_default`. */
  readonly workspaceId?: string;
  /** 32-byte keys that encrypt recoverable secrets. Without them, no key can be recoverable. */
  readonly vault?: KeyRing;
  /** Server-side secrets of 32 to 64 bytes that key the hashes. If you lose them, no key can be verified any more. */
  readonly pepper?: KeyRing;
  /** Seeds of 32 random bytes for the keys that sign tokens of exchangeKey. The current one signs; the public keys of all are published. */
  readonly tokens?: TokenKeyRing;
  /** Returns the current Unix epoch time in whole ms. Default: `Date.now`. */
  readonly clock?: Clock;
  /** Source of unpredictable bytes. Default: Web Crypto. */
  readonly random?: RandomBytes;
  /** How many recently verified keys this process caches: a whole number >= 0. Default: 32,768. No answer is stale. */
  readonly maxCachedKeys?: number;
  /** Whether every change of configuration also writes an audit entry, in the same transaction. Default: true. */
  readonly auditLog?: boolean;
  /**
   * Thresholds of the events that `notice` writes. With this option, the process also writes the events about uses and limits by
   * itself, with its statistics; without it, only when you call `notice`.
   */
  readonly notice?: {
    /** How long before its expiry a key counts as expiring soon: ms, or a text such as `"7d"`. Default: `"7d"`. */
    readonly expiresWithin?: Duration;
    /** Uses are low below this number, or below this share of a refill, such as 0.1. Default: never. */
    readonly usesBelow?: number;
    /** A limit is near when more than this share of it is taken. Default: 0.8. */
    readonly limitAbove?: number;
  };
  /**
   * How verifications are counted. Every `flushMs` the process writes its counts to the store; a crash loses those since then. `false`
   * counts nothing.
   */
  readonly usage?:
    | false
    | {
        /** How often the counts are written: 1 to 3,600,000 ms, or a text such as `"5s"`. Default: 5,000. */
        readonly flushMs?: Duration;
        /**
         * Whether a verification is counted in the same step as its charge, so that no crash loses a count. This makes every verification a
         * write, even a refusal. Default: false.
         */
        readonly durable?: boolean;
      };
  /**
   * Lets this process verify keys that it verified a moment ago without asking the store. A change that takes something away then resolves
   * up to `ms` later: when no process verifies with the old state any more. The process takes some uses and units of fixed and sliding
   * limits ahead; for other limits, it asks the store. Default: off.
   */
  readonly leases?:
    | {
        /** Length of a lease, in ms or as a text such as `"1s"`: 10 ms to 10 s. */
        readonly ms: Duration;
        /**
         * Largest share of what is left of a counter that this process takes ahead: 0 to 1. A killed process loses what it took. Default:
         * 0.01.
         */
        readonly share?: number;
      }
    | undefined;
  /**
   * Names of the permissions that your program uses. Another name then does not compile, except wildcards that a key holds. This
   * affects types only: no permission is created, and nothing is refused at run time. Default: any text.
   */
  readonly permissions?: readonly Permission[] | undefined;
  /** Names of the rate limits that your program uses, in addition to `default`. Affects types only, like `permissions`. */
  readonly ratelimits?: readonly Ratelimit[] | undefined;
  /**
   * Schema for the metadata of keys, of any library with Standard Schema (zod, valibot, arktype …). It validates metadata whenever you
   * write it; its output is stored and gives the type of the metadata that you read. Keys without metadata are not validated.
   */
  readonly meta?: Meta;
  /** Schema for the metadata of identities, like `meta`. The initial `{}` of an identity is not validated. */
  readonly identityMeta?: IdentityMeta;
  /** Called with every change, every verification and every failure of the store in this process. Nothing waits for it. */
  readonly onEvent?: EventListener;
  /**
   * Called with failures that no caller waits for: statistics that could not be written, a clock that differs from the store's by
   * more than a minute, an `onEvent` that throws or rejects (once, and again after it has worked). Without `onError`, a failing
   * `onEvent` is a warning on the console.
   */
  readonly onError?: ErrorListener;
}

const DEFAULT_CACHED_KEYS = 32_768;

/** Most root keys whose place in the store is remembered, about 300 bytes each. */
const MAX_KNOWN_ROOT_KEYS = 10_000;

/** Most open reservations whose key is remembered, about 150 bytes each; those of one key share about 300 more. */
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
 * Creates a latchkey on a store.
 *
 * @throws TypeError naming the wrong option and its bound.
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
  // Also refuses a store in place of the options: otherwise the error would name the store's first method as an unknown option.
  assertOption(
    typeof options === "object" && options !== null && !("charge" in options),
    "createLatchkey needs an object of options, with a store: { store }",
  );
  const unknown = Object.keys(options).find((name) => !KNOWN_OPTIONS.has(name));
  if (unknown !== undefined)
    throw new TypeError(
      `"${unknown}" is not an option of createLatchkey${meantHint(unknown, KNOWN_OPTIONS)}`,
    );
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
  assertOption(
    typeof options.store?.charge === "function",
    '"store" must be a KeyStore, such as memoryStore() or openStore(url)',
  );
  assertOption(isWhole(maxCachedKeys), '"maxCachedKeys" must be a whole number >= 0');
  for (const name of ["clock", "random"] as const) assertFunction(name, options[name]);
  for (const name of ["vault", "pepper", "tokens"] as const)
    assertGiven(options[name], isKeyRing, `"${name}" must be a key ring: { current, keys }`);
  assertSwitch("auditLog", auditLog);
  assertFunction("onEvent", onEvent ?? undefined);
  assertFunction("onError", onError ?? undefined);
  for (const name of ["permissions", "ratelimits"] as const)
    assertGiven(options[name], isListOfTexts, `"${name}" must be a list of names`);
  for (const name of ["meta", "identityMeta"] as const)
    assertGiven(options[name], isSchema, `"${name}" must be a schema with Standard Schema`);
  const counting = usage === false ? null : readRecorderSettings(usage);
  assertOption(
    !counting?.isDurable || options.store.countsInStep === true,
    '"usage.durable" needs a store that counts in the same step as a charge ("countsInStep" is true)',
  );
  const bytes = checkedRandom(random);
  const now = createMonotonicClock(clock);
  const hasOwnClock = options.clock !== undefined;
  const steady: Timer = () => performance.now();
  const timer: Timer = hasOwnClock ? now : steady;
  const emit = onEvent === null ? null : createEmitter(onEvent, onError ?? warnOfListener);
  const own = emit === null ? options.store : emitStoreFailures(options.store, emit, now, timer);
  const available = createAvailabilityStore(own, bytes);
  const settled = createSettledStore(available, now, (...noticed) => emitExpired(emit, ...noticed));
  const newId = createIdFactory(now, bytes);
  const store =
    leases === undefined
      ? settled
      : createLeasedStore(settled, available, readLeases(leases), now, steady, () => newId("lse"));
  const clocks = { steady, machineNow: hasOwnClock ? null : now };
  const notice = readNoticeSettings(options.notice);
  const shared: Omit<OperationContext, "workspaceId"> = {
    store,
    now,
    readStoreClock: store.readClock ?? Date.now,
    random: bytes,
    newId,
    hasher: createSecretHasher(options.pepper ?? null),
    vault: options.vault === undefined ? null : createVault(options.vault, bytes),
    tokens: options.tokens === undefined ? null : createTokenSigner(options.tokens),
    transact: createTransact(store, bytes),
    catalog: new Catalog(store),
    cache: new KeyCache(maxCachedKeys, counting?.isDurable),
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
    readsOfLogEnd: new Map(),
    crossings: usage === false || !auditLog ? null : createCrossings(notice),
    recorder:
      counting === null
        ? null
        : createStatisticsRecorder(store, counting, onError, clocks, (workspaceId) =>
            flushCrossings(shared, workspaceId),
          ),
  };
  const { vault, pepper, tokens } = options;
  refuseSharedSecrets({ vault, pepper, tokens });
  const stopWatching =
    store.readClock === undefined || hasOwnClock || onError === null
      ? () => undefined
      : watchClock(store, now, (difference) => report(onError, difference));
  let isClosed = false;
  const whole: SharedContext = {
    ...shared,
    close: () => {
      isClosed = true;
      return close(shared, stopWatching);
    },
    deliveries: {
      clock,
      report: (error) => report(onError ?? warnOfFailure, error),
      isClosed: () => isClosed,
    },
    endLeases: (id) => endLeases(available, id, (ms) => waitFor(ms, steady)),
  };
  const bound = bindLatchkey(whole, workspaceId);
  // The type parameters narrow types only: the functions are the same.
  return bound as unknown as Latchkey<TypesOf<Permission, Ratelimit, Meta, IdentityMeta>>;
}

/** Writes the counts first, then closes the store. */
async function close(
  { recorder, store }: Pick<OperationContext, "recorder" | "store">,
  stopWatching: () => void,
): Promise<void> {
  stopWatching();
  if (recorder !== null) await recorder.close();
  await store.close();
}

/** @throws TypeError with the message, for an option that is given but not so. */
function assertGiven<Value>(
  value: Value | undefined,
  isSo: (value: Value) => boolean,
  message: string,
): void {
  assertOption(value === undefined || isSo(value), message);
}

function isSchema(schema: MetaSchema): boolean {
  return typeof schema["~standard"]?.validate === "function";
}

function isListOfTexts(names: unknown): boolean {
  return Array.isArray(names) && names.every((name) => typeof name === "string");
}
