import type { z } from "zod";
import type { SettledCharge } from "../charge.js";
import type { OperationContext } from "../context.js";
import { badRequest, LatchkeyError } from "../errors.js";
import { deepFrozen } from "../frozen.js";
import { parseInput } from "../input.js";
import type { LoadedKey } from "../key.js";
import { chargeRequestOf, reusedRequestId } from "../repeated-request.js";
import { MAX_SECRET_LENGTH, secretShape } from "../secret.js";
import { type VerifyOutcome, verdictOf } from "../verdict.js";
import {
  decideVerification,
  planCharge,
  type VerifyDecision,
  type VerifyQuestion,
} from "../verify.js";
import { questionOf, verifyKeyInput } from "../verify-question.js";

/** For whom a verification is done. */
export interface VerifyScope {
  /** Only keys of these APIs exist for this caller; every other is `NOT_FOUND`. Omitted: all of the workspace. */
  readonly apiIds?: readonly string[];
}

/** Rounds after which a verification gives up on a key that is being changed all the time. */
const MAX_ATTEMPTS = 100;

const NOT_FOUND: VerifyOutcome = Object.freeze({ valid: false, code: "NOT_FOUND" });

const PLAIN_QUESTION: VerifyQuestion = Object.freeze({
  apiId: null,
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
  const hashes = context.hasher.candidates(secret);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const loaded = fromCache(context, hashes) ?? (await load(context, secret, hashes));
    if (loaded === null || !isVisible(context, scope, loaded)) return NOT_FOUND;
    const now = context.now();
    const decision = decideVerification(loaded, question, now);
    const request = parsed?.requestId && chargeRequestOf(parsed.requestId, question, now);
    const plan = planCharge(loaded, question, decision, now, request || undefined);
    const charge = await context.store.charge(plan);
    if (charge.kind === "conflict") throw reusedRequestId();
    if (charge.kind !== "stale") {
      if (decision.kind === "unknown-limits") throw unknownLimits(input, decision.names);
      return conclude(loaded, decision, charge, now);
    }
    context.cache.delete(loaded.key.hash);
  }
  throw new LatchkeyError(
    "STORE_UNAVAILABLE",
    "the key kept changing while it was verified; nothing was taken",
    { outcome: "not-applied" },
  );
}

function conclude(
  loaded: LoadedKey,
  decision: Exclude<VerifyDecision, { kind: "unknown-limits" }>,
  charge: SettledCharge,
  now: number,
): VerifyOutcome {
  switch (decision.kind) {
    case "workspace-disabled":
      throw new LatchkeyError("FORBIDDEN", "workspace is disabled");
    case "refuse":
      return verdictOf(loaded, decision.code, charge, now);
    case "charge":
      return verdictOf(loaded, CODE_BY_CHARGE[charge.kind], charge, now);
    default:
      return decision satisfies never;
  }
}

function unknownLimits(
  { ratelimits = [] }: z.input<typeof verifyKeyInput>,
  names: readonly string[],
): LatchkeyError {
  return badRequest(
    ratelimits.flatMap(({ name }, index) =>
      names.includes(name)
        ? [
            {
              path: `ratelimits.${index}.name`,
              message:
                "must name a limit of the key or its identity, or come with limit and duration",
            },
          ]
        : [],
    ),
  );
}

const CODE_BY_CHARGE = {
  charged: "VALID",
  "rate-limited": "RATE_LIMITED",
  "usage-exceeded": "USAGE_EXCEEDED",
} as const;

/** The commonest question by far, checked by hand: the schema costs more than the rest of a verification in memory. */
function isBareSecret(input: unknown): input is { key: string } {
  if (typeof input !== "object" || input === null) return false;
  for (const field in input) if (field !== "key") return false;
  const { key } = input as { key?: unknown };
  return typeof key === "string" && key.length >= 1 && key.length <= MAX_SECRET_LENGTH;
}

function fromCache({ cache }: OperationContext, hashes: readonly string[]): LoadedKey | undefined {
  for (const hash of hashes) {
    const cached = cache.get(hash);
    if (cached !== undefined) return cached;
  }
  return undefined;
}

/** Reads the key from the store, unless the string cannot be a secret at all. */
async function load(
  context: OperationContext,
  secret: string,
  hashes: readonly string[],
): Promise<LoadedKey | null> {
  const shape = secretShape(secret);
  if (shape === "malformed" || shape === "damaged") return null;
  for (const hash of hashes) {
    const loaded = await context.store.findKey(hash, context.workspaceId);
    if (loaded === null) continue;
    const kept = frozenRecords(loaded);
    context.cache.set(hash, kept);
    return kept;
  }
  return null;
}

/** Verdicts hand out parts of what is cached: whoever changed one would change what later verdicts rest on. */
function frozenRecords(loaded: LoadedKey): LoadedKey {
  const { key, identity, roles, permissions } = loaded;
  for (const record of [key, identity, roles, permissions]) deepFrozen(record);
  return loaded;
}

function isVisible(
  { workspaceId }: OperationContext,
  { apiIds }: VerifyScope,
  { key }: LoadedKey,
): boolean {
  return key.workspaceId === workspaceId && (apiIds === undefined || apiIds.includes(key.apiId));
}
