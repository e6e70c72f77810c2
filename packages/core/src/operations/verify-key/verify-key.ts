import type { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import { MAX_SECRET_LENGTH } from "../../secrets/format.js";
import { type CountedKey, countedKey } from "../../statistics/buffer.js";
import { concludeVerification } from "../../verification/conclusion.js";
import { dryRun } from "../../verification/dry-run.js";
import { tellOfUnknownSecret, tellOfVerdict } from "../../verification/events.js";
import { chargeRequestOf, reusedRequestId } from "../../verification/idempotency.js";
import { findKeyOf, isVisible, type VerifyScope } from "../../verification/key-lookup.js";
import type { VerifyOutcome } from "../../verification/verdict.js";
import {
  decideVerification,
  planCharge,
  standingLimits,
  type VerifyQuestion,
} from "../../verification/verify.js";
import type { OperationContext } from "../context.js";
import { parseInput } from "../input.js";
import { questionOf, verifyKeyInput } from "./input.js";

/** Rounds after which a verification gives up on a key that is being changed all the time. */
const MAX_ATTEMPTS = 100;

const NOT_FOUND: VerifyOutcome = Object.freeze({ valid: false, code: "NOT_FOUND" });

const PLAIN_QUESTION: VerifyQuestion = Object.freeze({
  apiId: null,
  address: null,
  permissions: null,
  cost: 1,
  limits: [],
});

/**
 * Decides whether a presented secret may do what is asked, and takes what that costs, in one atomic step. A refusal
 * takes nothing. Concurrent verifications admit exactly what was granted, and a change that has resolved is seen by
 * every verification that starts later, from any process.
 *
 * Recently used keys are decided on from memory and confirmed by the store in the same step that charges, so a
 * verification of a key in use is one store call, and none is answered from stale records.
 *
 * @throws LatchkeyError `BAD_REQUEST` for a malformed question or a limit name that nothing configures, `CONFLICT` for a
 * `requestId` that was used for another question, `FORBIDDEN` when the workspace is disabled, `STORE_UNAVAILABLE` when the store cannot tell: never a verdict then.
 */
export async function verifyKey(
  context: OperationContext,
  input: z.input<typeof verifyKeyInput>,
  scope: VerifyScope = {},
): Promise<VerifyOutcome> {
  const parsed = isBareSecret(input) ? null : parseInput(verifyKeyInput, input);
  const question = parsed === null ? PLAIN_QUESTION : questionOf(parsed);
  const secret = input.key;
  if (parsed?.dryRun === true) return dryRun(context, secret, question, parsed.ratelimits, scope);
  const { onEvent, counter } = context;
  const hashes = context.hasher.candidates(secret);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const loaded = fromCache(context, hashes) ?? (await load(context, secret, hashes));
    if (loaded === null || !isVisible(context, scope, loaded)) {
      if (onEvent !== null)
        tellOfUnknownSecret(onEvent, context.workspaceId, context.now(), parsed?.tags);
      return NOT_FOUND;
    }
    const now = context.now();
    const decision = decideVerification(loaded, question, now);
    const request = parsed?.requestId && chargeRequestOf(parsed.requestId, question, now);
    const plan = planCharge(loaded, question, decision, now, request || undefined);
    const charge = await context.store.charge(plan);
    if (charge.kind === "conflict") throw reusedRequestId();
    if (charge.kind !== "stale") {
      const verdict = concludeVerification(loaded, decision, charge, now, parsed?.ratelimits);
      if (counter !== null) counter.count(loaded, verdict.code, now);
      if (onEvent !== null) tellOfVerdict(onEvent, { loaded, verdict, charge, plan }, parsed?.tags);
      return verdict;
    }
    context.cache.delete(loaded.key.hash);
  }
  throw new LatchkeyError(
    "STORE_UNAVAILABLE",
    "the key kept changing while it was verified; nothing was taken",
    { outcome: "not-applied" },
  );
}

/** The commonest question by far, checked by hand: the schema costs more than the rest of a verification in memory. */
function isBareSecret(input: unknown): input is { key: string } {
  if (typeof input !== "object" || input === null) return false;
  for (const field in input) if (field !== "key") return false;
  const { key } = input as { key?: unknown };
  return typeof key === "string" && key.length >= 1 && key.length <= MAX_SECRET_LENGTH;
}

/** All workspaces share the cache, and two of them may have imported one secret: each has a key of its own then. */
function fromCache(
  { cache, workspaceId }: OperationContext,
  hashes: readonly string[],
): CountedKey | undefined {
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
): Promise<CountedKey | null> {
  const found = await findKeyOf(context, secret, hashes);
  if (found === null) return null;
  const loaded = countedKey(found, standingLimits(found));
  context.cache.set(loaded.key.hash, loaded);
  return loaded;
}
