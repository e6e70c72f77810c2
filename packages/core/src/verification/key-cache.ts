import { createLruCache, type LruCache } from "../lib/lru-cache.js";
import type { Refill } from "../rules/refill.js";
import type { ChargePlan, LimitCharge } from "../store/charge.js";
import type { StatisticsSubject } from "../store/statistics.js";
import type { EpochMs, SpanMs } from "../time.js";
import {
  type CountableKey,
  type CountedFor,
  countedFor,
  countsOfCharge,
  subjectsOf,
} from "./counted-subjects.js";
import { decideLimits } from "./limit-precedence.js";
import { effectiveRefill, type VerifiableKey } from "./loaded-key.js";
import { planCharge } from "./plan.js";
import {
  isSameLimits,
  type LimitRequest,
  PLAIN_QUESTION,
  type VerifyQuestion,
} from "./question.js";

/** Most lists of limits that are cached for keys to share. */
const MAX_SHARED_LIMITS = 1_000;

/** Verifications of one key in one hour, as the statistics count them. */
export interface KeyCounts extends CountedFor {
  readonly workspaceId: string;
  readonly hourAt: EpochMs;
  /** They are counted here as long as this is the generation of the buffer that holds them. */
  generation: object;
  /** Number of `VALID` verdicts, apart from the others: the hot path then writes to only one object. */
  valid: number;
  /** Ms from the start of the hour to the latest of them. A small number, unlike an instant: numbers beyond 2^31 are objects. */
  usedAfterMs: SpanMs;
  /** The other codes, in the order of `SUM_CODES`; null while there are none. */
  refusals: number[] | null;
}

/** A plan, and the parts of the question that are not in it. */
interface AskedPlan {
  readonly limits: readonly LimitRequest[];
  readonly ttl: SpanMs | undefined;
  readonly plan: ChargePlan;
}

/** A key whose verifications are counted. */
export interface CountedKey extends CountableKey {
  /** Where its verifications are counted; null before the first. */
  counts: KeyCounts | null;
}

/** What the end of a reservation needs to know of its key, as it was when the reservation was made. */
export interface ReservedKey extends CountedKey {
  /** The refill of the uses that it takes from. */
  readonly refill: Refill | null;
}

/** A key with everything that its verifications need again and again, computed once. */
export interface CachedKey extends VerifiableKey, Pick<ReservedKey, "refill" | "counts"> {
  /** The plan of the plain question. A store caches in it what it derives from it. */
  readonly plainPlan: ChargePlan;
  /** The plan of the latest question with another cost or with limits, which is likely to come again. */
  latest: AskedPlan | null;
  /** The plan of the latest reservation, because many programs verify and reserve in turns. */
  latestHeld: AskedPlan | null;
  /** At least as the store has it; uses of this process that the store does not have yet are not included. */
  lastUsedAt: EpochMs | null;
  /** Pending while a use that must be stored is written; otherwise null. */
  storing: Promise<void> | null;
  /** The part that open reservations keep in memory, without the rest of the key; null before the first. */
  reserved: ReservedKey | null;
  /** Subjects that the step of the charge counts its verifications for; null if they are counted outside it. */
  readonly subjects: readonly StatisticsSubject[] | null;
}

/** Recently verified keys, ready for the next verification. The store decides whether a key is still as it was. */
export class KeyCache {
  readonly #keys: LruCache<CachedKey>;
  /**
   * Keys with equal limits share one list of them, which stays in the processor's cache: with a list for each key, a warm verification of
   * 10,000 keys with a limit of their identities takes 7 % longer in memory.
   */
  readonly #limits = new Map<string, readonly LimitCharge[]>();

  readonly #countsInStep: boolean;

  /** @param maxKeys - Most keys that are cached: a whole number >= 0. @param countsInStep - Whether plans say what they count. */
  constructor(maxKeys: number, countsInStep: boolean = false) {
    this.#keys = createLruCache(maxKeys);
    this.#countsInStep = countsInStep;
  }

  /** All workspaces share the cache, and two of them may have imported the same secret, as two keys. */
  find(workspaceId: string, hashes: readonly string[]): CachedKey | undefined {
    for (const hash of hashes) {
      const cached = this.#keys.get(hash);
      if (cached !== undefined && cached.key.workspaceId === workspaceId) return cached;
    }
    return undefined;
  }

  keep(loaded: VerifiableKey): CachedKey {
    const { limits } = decideLimits(loaded, PLAIN_QUESTION.limits);
    const cached = cachedKey(loaded, this.#shared(limits), this.#countsInStep);
    this.#keys.set(cached.key.hash, cached);
    return cached;
  }

  drop({ key }: CachedKey): void {
    this.#keys.delete(key.hash);
  }

  #shared(limits: readonly LimitCharge[]): readonly LimitCharge[] {
    // The name of a window includes the name, the algorithm and the duration of its limit.
    let name = "";
    for (const { owner, window, limit, burst, shadow } of limits)
      name += `${owner} ${window} ${limit} ${burst} ${shadow} `;
    const known = this.#limits.get(name);
    if (known !== undefined) return known;
    if (this.#limits.size >= MAX_SHARED_LIMITS) this.#limits.clear();
    this.#limits.set(name, limits);
    return limits;
  }
}

/** Prepares a loaded key for many verifications. `limits`: the limits that the plain question takes from. */
export function cachedKey(
  loaded: VerifiableKey,
  limits: readonly LimitCharge[],
  countsInStep: boolean = false,
): CachedKey {
  const { cost } = PLAIN_QUESTION;
  const subjects = countsInStep ? subjectsOf(countedFor(loaded)) : null;
  const counts = subjects === null ? undefined : countsOfCharge(subjects, cost);
  // Field by field, starting with the fields that every verification reads, so that they are together in memory: with a spread, a warm
  // verification in memory takes 1.9 times as long.
  return {
    key: loaded.key,
    workspace: loaded.workspace,
    api: loaded.api,
    identity: loaded.identity,
    plainPlan: planCharge(loaded, cost, limits, undefined, "commit", counts),
    refill: effectiveRefill(loaded),
    counts: null,
    roles: loaded.roles,
    permissions: loaded.permissions,
    held: loaded.held,
    latest: null,
    latestHeld: null,
    revision: loaded.revision,
    handle: loaded.handle,
    identityHandle: loaded.identityHandle,
    lastUsedAt: loaded.lastUsedAt,
    storing: null,
    reserved: null,
    subjects,
  };
}

/** The part of a key that its reservations keep. All of them share it. */
export function reservedKeyOf(cached: CachedKey): ReservedKey {
  if (cached.reserved !== null) return cached.reserved;
  const { identity, refill } = cached;
  const { id, apiId, workspaceId, tags, uncountedTags } = cached.key;
  const key = { id, apiId, workspaceId, tags, uncountedTags };
  cached.reserved = { key, identity: identity && { id: identity.id }, refill, counts: null };
  return cached.reserved;
}

/** The plan of a question that the records do not refuse; null if a limit is unknown. */
export function chargePlanOf(
  cached: CachedKey,
  { cost, limits, ttl }: VerifyQuestion,
): ChargePlan | null {
  // A plan depends only on costs, limits and `ttl`, so most questions share the plan of the plain one.
  if (cost === PLAIN_QUESTION.cost && limits.length === 0 && ttl === undefined)
    return cached.plainPlan;
  const latest = ttl === undefined ? cached.latest : cached.latestHeld;
  const isSame = latest?.plan.cost === cost && latest.ttl === ttl;
  if (isSame && isSameLimits(latest.limits, limits)) return latest.plan;
  const decision = decideLimits(cached, limits);
  if (decision.unknown.length > 0) return null;
  const { subjects } = cached;
  // Uses of a reservation count when it is settled.
  const uses = ttl === undefined ? cost : 0;
  const counts = subjects === null ? undefined : countsOfCharge(subjects, uses);
  const plan = planCharge(cached, cost, decision.limits, ttl, "commit", counts);
  if (ttl === undefined) cached.latest = { limits, ttl, plan };
  else cached.latestHeld = { limits, ttl, plan };
  return plan;
}
