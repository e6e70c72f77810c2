import {
  emitUnknownSecret,
  emitVerdict,
  type VerificationTrace,
} from "../../audit/verification-events.js";
import { type LatchkeyError, unavailable, unmet } from "../../errors.js";
import { unreadable } from "../../lib/parse-input.js";
import { yieldToEventLoop } from "../../lib/promises.js";
import { mustStoreUse } from "../../rules/keys/lifecycle.js";
import { dueRefill } from "../../rules/refill.js";
import { MAX_SECRET_LENGTH } from "../../secrets/format.js";
import type { ChargePlan } from "../../store/charge.js";
import type { SettledCharge } from "../../store/settled-store.js";
import type { EpochMs } from "../../time.js";
import { countsOfRefusal } from "../../verification/counted-subjects.js";
import {
  allChecks,
  type DryRunOutcome,
  NO_SUCH_KEY,
  type Peek,
  usesBefore,
} from "../../verification/dry-run.js";
import { chargeRequestOf, reusedRequestId } from "../../verification/idempotency.js";
import {
  codeOf,
  judgeRecords,
  type Refusal,
  verdictOnCharge,
  verdictOnRefusal,
} from "../../verification/judge.js";
import { type CachedKey, chargePlanOf, reservedKeyOf } from "../../verification/key-cache.js";
import { decideLimits } from "../../verification/limit-precedence.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { dueRefillOf, MOST_OPEN, planPeek } from "../../verification/plan.js";
import type { VerifyQuestion } from "../../verification/question.js";
import { lacksSlotEnds, withOwnSlotEnds, withSlotEnds } from "../../verification/slot-ends.js";
import {
  exceededShadows,
  NO_KEY,
  type NoKey,
  type VerifyOutcome,
} from "../../verification/verdict.js";
import type { OperationContext } from "../context.js";
import { findKeyBySecret, getKeyById, noKeyVerdict } from "../keys/load.js";
import { operation } from "../operation.js";
import { MAX_ROUNDS, untilSteady } from "../read.js";
import {
  explainKeyInput,
  questionOf,
  type VerificationRequest,
  type VerifyKeyInput,
} from "./input.js";
import { EVERY_API, isVisible, type VerifyScope } from "./operations.js";
import { readVerification } from "./read-request.js";

/** Observes a verification for a listener; null without one, so that it costs nothing. */
type Watch = Pick<VerificationTrace, "cached"> & { readonly startedAt: number };

const NO_HASHES: readonly string[] = [];
const NO_PLAN: Pick<ChargePlan, "limits"> = { limits: [] };

/** Recently used keys are decided from memory and confirmed by the store in the step that charges: one store call, no stale records. */
export function verifyKey(
  context: OperationContext,
  input: VerifyKeyInput,
  scope: VerifyScope = EVERY_API,
): Promise<VerifyOutcome> {
  try {
    const request = readVerification(input);
    return request.isDryRun
      ? dryRun(context, () => findKeyBySecret(context, request.secret), request.question, scope)
      : verifySecret(context, request, scope);
  } catch (error) {
    // A malformed input, or a getter that throws, becomes a rejection like every other failure.
    return Promise.reject(unreadable(error, input));
  }
}

/**
 * Verifies a secret for a request that was read. Throws like {@link verifyKey}, sometimes synchronously.
 *
 * A cached key on a synchronous store is verified without an async function, which would cost as much as the rest.
 */
export function verifySecret(
  context: OperationContext,
  request: VerificationRequest,
  scope: VerifyScope,
): Promise<VerifyOutcome> {
  const { secret } = request;
  const watch: Watch | null =
    context.emit === null ? null : { startedAt: context.timer(), cached: true };
  // Before hashing: a text of any length may come here.
  const canExist = secret.length >= 1 && secret.length <= MAX_SECRET_LENGTH;
  const hashes = canExist ? context.hasher.candidates(secret) : NO_HASHES;
  const cached = context.cache.find(context.workspaceId, hashes);
  const verdict =
    cached === undefined ? null : verifyCached(context, request, scope, cached, watch);
  if (verdict === null)
    return tracked(context, verifyAfresh(context, request, scope, hashes, watch));
  if (!("then" in verdict)) return Promise.resolve(verdict);
  return tracked(
    context,
    verdict.then((known) => known ?? verifyAfresh(context, request, scope, hashes, watch)),
  );
}

/** Tracks a call that counts something when the store has answered: `close` waits for it. */
function tracked(
  { recorder }: OperationContext,
  call: Promise<VerifyOutcome>,
): Promise<VerifyOutcome> {
  return recorder === null ? call : recorder.track(call);
}

const ROUNDS_WITHOUT_PAUSE = 4;
const MAX_PAUSE_MS = 5;

/** Reads the key and decides, again and again until the key has not changed in between. */
async function verifyAfresh(
  context: OperationContext,
  request: VerificationRequest,
  scope: VerifyScope,
  hashes: readonly string[],
  watched: Watch | null,
): Promise<VerifyOutcome> {
  const watch = watched === null ? null : { ...watched, cached: false };
  for (let attempt = 0; attempt < MAX_ROUNDS; attempt += 1) {
    const found = await findKeyBySecret(context, request.secret, hashes);
    if (typeof found === "string") return unknownSecret(context, request, found, watch);
    const fresh = context.cache.keep(found);
    const pending = verifyCached(context, request, scope, fresh, watch, true);
    const verdict = pending !== null && "then" in pending ? await pending : pending;
    if (verdict !== null) return verdict;
    // Changes whose round trips take as long as these would come between the read and the charge each time.
    if (attempt >= ROUNDS_WITHOUT_PAUSE) await yieldToEventLoop(attempt % MAX_PAUSE_MS);
  }
  throw unavailable("the key kept changing while it was verified; nothing was taken");
}

/**
 * Decides from a cached key, and lets the store confirm it in the step that charges. Refusals are confirmed too: no verdict is based on
 * records that have changed.
 *
 * @param isFresh - Whether the key was just read: then uses by other processes are known, and an idle key may be refused.
 * @returns Null if the records have changed. Synchronous if the store is.
 */
function verifyCached(
  context: OperationContext,
  request: VerificationRequest,
  scope: VerifyScope,
  cached: CachedKey,
  watch: Watch | null,
  isFresh = false,
): VerifyOutcome | null | Promise<VerifyOutcome | null> {
  if (!isVisible(context, scope, cached))
    return noKeyVerdict(context).then((code) => unknownSecret(context, request, code, watch));
  const { question, requestId } = request;
  const now = context.now();
  const refusal = judgeRecords(cached, question, now);
  if (refusal !== null && !isFresh && cached.key.expiresWhenUnused !== null) return null;
  const plan = refusal === null ? chargePlanOf(cached, question) : null;
  const isRemembered = requestId !== undefined && plan !== null;
  const remembered = isRemembered ? chargeRequestOf(requestId, question, now) : undefined;
  const holdId = plan?.hold && context.newId("rsv");
  const moment = { now, refill: dueRefill(cached.refill, now), request: remembered, holdId };
  const charge = context.store.charge(plan ?? planRefusal(cached, refusal), moment);
  return "then" in charge
    ? charge.then((result) => conclude(context, request, cached, refusal, plan, result, now, watch))
    : conclude(context, request, cached, refusal, plan, charge, now, watch);
}

/** The plan that confirms a refusal by the records. It also counts the refusal if counting is part of the step. */
function planRefusal(cached: CachedKey, refusal: Refusal | null): ChargePlan {
  const peek = planPeek(cached);
  if (refusal === null || cached.subjects === null) return peek;
  return { ...peek, counts: countsOfRefusal(cached.subjects, codeOf(refusal)) };
}

function conclude(
  context: OperationContext,
  request: VerificationRequest,
  cached: CachedKey,
  refusal: Refusal | null,
  plan: ChargePlan | null,
  charge: SettledCharge,
  now: EpochMs,
  watch: Watch | null,
): VerifyOutcome | null | Promise<VerifyOutcome | null> {
  if (charge.kind === "conflict") throw reusedRequestId();
  if (charge.kind === "too-many-holds") throw tooManyReservations(charge.record);
  if (charge.kind === "stale") {
    context.cache.drop(cached);
    return null;
  }
  if (plan !== null && lacksSlotEnds(plan, charge, request.requestId !== undefined))
    return withSlotEnds(context.store, plan, charge, now).then((known) =>
      conclude(context, request, cached, refusal, plan, known, now, watch),
    );
  if (charge.hold !== undefined) context.reserved.set(charge.hold.id, reservedKeyOf(cached));
  const { recorder, crossings, emit } = context;
  const { question } = request;
  const verdict =
    plan === null
      ? verdictOnRefusal(cached, question, refusal, charge, now)
      : verdictOnCharge(
          cached,
          plan,
          takesSlots(plan) ? withOwnSlotEnds(plan, charge, now) : charge,
          now,
        );
  const shadows = exceededShadows(charge.limits, (plan ?? NO_PLAN).limits);
  if (recorder !== null) {
    recorder.count(cached, verdict.code, now);
    if (shadows.length > 0 && !charge.isRepeat) recorder.count(cached, "SHADOW_LIMITED", now);
    // The uses of a reservation are counted when it is settled.
    const uses = charge.isRepeat || question.ttl !== undefined ? 0 : question.cost;
    if (verdict.valid && uses !== 1)
      recorder.count(cached, uses === 0 ? "FREE" : "EXTRA_USES", now, Math.max(1, uses - 1));
  }
  if (crossings !== null && plan !== null && charge.kind === "charged")
    crossings.look(cached, plan, charge);
  if (emit !== null && watch !== null)
    emitVerdict(
      emit,
      { loaded: cached, verdict, cost: question.cost, now, charge, shadows },
      traceOf(context, request, watch),
    );
  if (cached.key.expiresWhenUnused === null || !verdict.valid) return verdict;
  const storing = storeUse(context, cached, now);
  return storing === null ? verdict : storing.then(() => verdict);
}

function takesSlots({ hold }: ChargePlan): boolean {
  return hold !== undefined && hold.slotTtl !== null;
}

/**
 * Stores a use before the verdict is returned if other processes must know it soon: counts are written seconds later, or never.
 *
 * @returns Null if the stored use is recent enough. Never rejects: the use was taken, and is counted with the others.
 * @see packages/core/decisions/0039-keys-that-nobody-uses.md
 */
function storeUse(
  { store, workspaceId }: OperationContext,
  cached: CachedKey,
  now: EpochMs,
): Promise<void> | null {
  const { key } = cached;
  if (!mustStoreUse(key, cached.lastUsedAt, now)) return null;
  const uses = [{ kind: "key", id: key.id, usedAt: now }] as const;
  cached.storing ??= store
    .addStatistics(workspaceId, { counts: [], uses })
    .then(
      () => {
        cached.lastUsedAt = now;
      },
      () => undefined,
    )
    .finally(() => {
      cached.storing = null;
    });
  return cached.storing;
}

/** `place`: 0 if the key has the most reservations allowed; otherwise its identity has. */
function tooManyReservations(place: number): LatchkeyError {
  const limit = MOST_OPEN[place] as number;
  const whose = place === 0 ? "this key" : "the identity of this key";
  return unmet(
    "too-many-reservations",
    `${limit} reservations of ${whose} are open, which is the maximum; nothing was taken`,
    { limit },
  );
}

function unknownSecret(
  context: OperationContext,
  request: VerificationRequest,
  code: NoKey,
  watch: Watch | null,
): VerifyOutcome {
  const { emit, workspaceId, now } = context;
  if (emit !== null && watch !== null)
    emitUnknownSecret(emit, workspaceId, now(), traceOf(context, request, watch));
  return NO_KEY[code];
}

function traceOf(
  { timer }: OperationContext,
  { tags }: VerificationRequest,
  { startedAt, cached }: Watch,
): VerificationTrace {
  return { durationMs: timer() - startedAt, cached, tags };
}

/**
 * Finds the verdict that a verification would give, and why. It reads records and counters again, and one `peek` confirms them.
 *
 * @see packages/core/decisions/0016-a-dry-run-leaves-no-trace.md
 */
async function dryRun(
  context: OperationContext,
  find: () => Promise<LoadedKey | NoKey>,
  question: VerifyQuestion,
  scope: VerifyScope,
): Promise<DryRunOutcome> {
  return untilSteady("the key kept changing while it was checked", async () => {
    const loaded = await find();
    if (typeof loaded === "string") return { ...NO_KEY[loaded], checks: NO_SUCH_KEY };
    if (!isVisible(context, scope, loaded))
      return { ...NO_KEY[await noKeyVerdict(context)], checks: NO_SUCH_KEY };
    const now = context.now();
    const refusal = judgeRecords(loaded, question, now);
    const { limits, unknown } = decideLimits(loaded, question.limits);
    // With the whole cost even if the records refuse, so that the later checks are shown too.
    const plan = planPeek(loaded, question.cost, limits);
    const charge = await context.store.charge(plan, { now, refill: dueRefillOf(loaded, now) });
    if (!("limits" in charge)) return undefined;
    const own = withOwnSlotEnds(plan, charge, now);
    const known = lacksSlotEnds(plan, own)
      ? await withSlotEnds(context.store, plan, own, now)
      : own;
    const peek: Peek = { limits, cost: question.cost, charge: known };
    // The counters as seen by a verification that the records refuse: it takes nothing, and names no limit.
    const unmoved = { kind: "charged", remaining: usesBefore(peek), limits: [] } as const;
    const verdict =
      refusal === null && unknown.length === 0
        ? verdictOnCharge(loaded, peek, known, now)
        : verdictOnRefusal(loaded, question, refusal, unmoved, now);
    return { ...verdict, checks: allChecks(loaded, question, peek, now) };
  });
}

export const explainKey = operation(explainKeyInput, async (context, { keyId, ...question }) =>
  dryRun(context, () => getKeyById(context, keyId), questionOf(question), EVERY_API),
);
