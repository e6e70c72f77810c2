import { emitUnknownSecret, emitVerdict } from "../../audit/verification-events.js";
import { LatchkeyError } from "../../errors.js";
import { MAX_SECRET_LENGTH } from "../../secrets/format.js";
import type { AppliedCharge, ChargePlan, ChargeRequest } from "../../store/charge.js";
import type { EpochMs } from "../../time.js";
import { concludeVerification } from "../../verification/conclusion.js";
import { decideVerification, type VerifyDecision } from "../../verification/decision.js";
import { chargeRequestOf, reusedRequestId } from "../../verification/idempotency.js";
import { type CachedKey, cachedKey } from "../../verification/key-cache.js";
import { dueRefillOf, planCharge, planPeek } from "../../verification/plan.js";
import { PLAIN_QUESTION, type VerifyQuestion } from "../../verification/question.js";
import type { VerifyOutcome } from "../../verification/verdict.js";
import type { OperationContext } from "../context.js";
import { findKeyBySecret } from "../keys/load.js";
import { dryRun } from "./dry-run.js";
import {
  bareSecret,
  PLAIN_REQUEST,
  readVerification,
  type VerificationRequest,
  type VerifyKeyInput,
} from "./input.js";
import { isVisible, type VerifyScope } from "./scope.js";

/** Rounds after which a verification gives up on a key that is being changed all the time. */
const MAX_ATTEMPTS = 100;

const NO_HASHES: readonly string[] = [];

const NOT_FOUND: VerifyOutcome = Object.freeze({ valid: false, code: "NOT_FOUND" });

/**
 * Decides whether a presented secret may do what is asked, and takes what that costs, in one atomic step. A refusal
 * takes nothing. Concurrent verifications admit exactly what was granted, and a change that has resolved is seen by
 * every verification that starts later, from any process. A string that cannot be a secret, empty or too long, is `NOT_FOUND`.
 *
 * Recently used keys are decided on from memory and confirmed by the store in the same step that charges, so a
 * verification of a key in use is one store call, and none is answered from stale records.
 *
 * @throws LatchkeyError `BAD_REQUEST` for a malformed question or a limit name that nothing configures, `CONFLICT` for a
 * `requestId` that was used for another question, `FORBIDDEN` when the workspace is disabled, `STORE_UNAVAILABLE` when the
 * store cannot answer: never a verdict then.
 */
export function verifyKey(
  context: OperationContext,
  input: VerifyKeyInput,
  scope: VerifyScope = EVERY_API,
): Promise<VerifyOutcome> {
  try {
    const bare = bareSecret(input);
    if (bare !== null) return verifySecret(context, bare, PLAIN_REQUEST, scope);
    const { secret, request } = readVerification(input);
    const { question, requested } = request;
    return request.isDryRun
      ? dryRun(context, secret, question, requested, scope)
      : verifySecret(context, secret, request, scope);
  } catch (error) {
    // Of a malformed input, or of a getter in it: a rejection, as every other failure.
    return Promise.reject(error);
  }
}

const EVERY_API: VerifyScope = Object.freeze({});

async function verifySecret(
  context: OperationContext,
  secret: string,
  { question, requested, requestId, tags }: VerificationRequest,
  scope: VerifyScope,
): Promise<VerifyOutcome> {
  const { onEvent, onError, recorder } = context;
  // Before anything is hashed: a text of any length may come here.
  const canExist = secret.length >= 1 && secret.length <= MAX_SECRET_LENGTH;
  const hashes = canExist ? context.hasher.candidates(secret) : NO_HASHES;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const cached = fromCache(context, hashes) ?? (await load(context, secret, hashes));
    if (cached === null || !isVisible(context, scope, cached)) {
      if (onEvent !== null)
        emitUnknownSecret(onEvent, context.workspaceId, context.now(), tags, onError);
      return NOT_FOUND;
    }
    const now = context.now();
    const decision = decideVerification(cached, question, now, cached.autoApplied);
    const request = requestId === undefined ? undefined : chargeRequestOf(requestId, question, now);
    const pending = chargeFor(context, cached, question, decision, now, request);
    // A store that need not wait answers at once, and to await that would cost a turn of the queue.
    const charge = pending !== null && "then" in pending ? await pending : pending;
    if (charge !== null) {
      const verdict = concludeVerification(cached, decision, charge, now, requested);
      if (recorder !== null) recorder.count(cached, verdict.code, now);
      if (onEvent !== null) {
        const judged = { loaded: cached, verdict, cost: question.cost, now, charge };
        emitVerdict(onEvent, judged, tags, onError);
      }
      return verdict;
    }
    context.cache.delete(cached.key.hash);
  }
  throw new LatchkeyError(
    "STORE_UNAVAILABLE",
    "the key kept changing while it was verified; nothing was taken",
    { outcome: "not-applied" },
  );
}

/**
 * Confirms a decision, and takes what it costs. One that refuses takes nothing, and is confirmed all the same: no verdict is
 * given on records that have changed since they were read.
 *
 * @returns Null where they have.
 */
function chargeFor(
  context: OperationContext,
  cached: CachedKey,
  question: VerifyQuestion,
  decision: VerifyDecision,
  now: EpochMs,
  request: ChargeRequest | undefined,
): AppliedCharge | null | Promise<AppliedCharge | null> {
  const plan = planOf(cached, question, decision);
  const isCharge = decision.kind === "charge";
  const moment = {
    now,
    refill: dueRefillOf(cached, now),
    request: isCharge ? request : undefined,
  };
  const result = context.store.charge(plan, moment);
  return "then" in result ? result.then(applied) : applied(result);
}

function planOf(cached: CachedKey, question: VerifyQuestion, decision: VerifyDecision): ChargePlan {
  if (decision.kind !== "charge") return planPeek(cached);
  // Nothing but costs and limits makes a plan, so most questions share that of the plain one.
  if (question.cost === PLAIN_QUESTION.cost && decision.limits === cached.autoApplied)
    return cached.plainPlan;
  return planCharge(cached, question.cost, decision.limits);
}

function applied(
  result: Awaited<ReturnType<OperationContext["store"]["charge"]>>,
): AppliedCharge | null {
  if (result.kind === "conflict") throw reusedRequestId();
  return result.kind === "stale" ? null : result;
}

/** All workspaces share the cache, and two of them may have imported one secret: each has a key of its own then. */
function fromCache(
  { cache, workspaceId }: OperationContext,
  hashes: readonly string[],
): CachedKey | undefined {
  for (const hash of hashes) {
    const cached = cache.get(hash);
    if (cached !== undefined && cached.key.workspaceId === workspaceId) return cached;
  }
  return undefined;
}

async function load(
  context: OperationContext,
  secret: string,
  hashes: readonly string[],
): Promise<CachedKey | null> {
  const found = await findKeyBySecret(context, secret, hashes);
  if (found === null) return null;
  const cached = cachedKey(found);
  context.cache.set(cached.key.hash, cached);
  return cached;
}
