import { createIdFactory, type DefaultTypes, type LatchkeyTypes } from "@latchkey/core";
import { clientAddress } from "./client-address.js";
import { type Credential, readCredential, readFoundKey } from "./credential.js";
import { checkOptions, type GuardOptions } from "./options.js";
import type { PresentedRequest } from "./presented-request.js";
import { type Ask, type GuardLatchkey, type GuardQuestion, readQuestion } from "./question.js";
import { rateLimitFields } from "./rate-limit-fields.js";
import type { Admission, Decision, Refusal, Refused } from "./refusal.js";
import { type RefusalStyle, refuseCredential, refuseError, refuseVerdict } from "./refuse.js";
import { settleRefusal } from "./settle-refusal.js";

/**
 * Decides on one request of a guarded route. Never rejects: whatever goes wrong is a refusal.
 *
 * @param request - What the functions of the question and of the options are called with.
 */
export type Decide<Request, Types extends LatchkeyTypes = DefaultTypes> = (
  presented: PresentedRequest,
  request: Request,
) => Promise<Decision<Types>>;

/** Makes the decision of one route out of its question. */
export type CreateDecision<Request, Types extends LatchkeyTypes = DefaultTypes> = (
  question?: GuardQuestion<Request, Types>,
) => Decide<Request, Types>;

/** Called where a host has no error listener of its own. */
const printError = (error: unknown): void => console.error(error);

/**
 * Makes the decision that all guards share: what a request presents goes in, an admission or a refusal comes out as data. It knows no
 * framework; `@latchkey/guard/express` and its siblings are thin entries over it, and one for another framework is as thin.
 *
 * Nothing is admitted without a verdict `VALID`, except a request without a key where the question says `optional`.
 *
 * @throws TypeError naming the option that is wrong. The function that it answers throws it for a wrong question, or a
 * LatchkeyError `BAD_REQUEST`.
 * @example
 * const decide = createDecision(latchkey)({ permissions: "tiles.read" });
 * const decision = await decide(presented, request);
 * if (!decision.admitted) return new Response(decision.body, decision);
 */
export function createDecision<Request, Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options: GuardOptions<Request> = {},
): CreateDecision<Request, Types> {
  if (typeof latchkey?.verifier !== "function")
    throw new TypeError('"latchkey" must be what createLatchkey returns');
  // What the program knows is types alone: this works on any latchkey.
  return createDecisionOn(
    latchkey as unknown as GuardLatchkey,
    options,
  ) as unknown as CreateDecision<Request, Types>;
}

function createDecisionOn<Request>(
  latchkey: GuardLatchkey,
  options: GuardOptions<Request>,
): CreateDecision<Request> {
  checkOptions(options);
  const { problem = "problem+json", usedUpStatus = 429 } = options;
  const newId = createIdFactory(latchkey.now, (size) =>
    crypto.getRandomValues(new Uint8Array(size)),
  );
  const style: RefusalStyle = { problem, usedUpStatus, requestId: () => newId("req") };
  return (question = {}) => {
    const ask = readQuestion(latchkey, question);
    const isOptional = question.optional === true;
    return async (presented, request) => {
      const context = { latchkey, options, style, ask, isOptional };
      const decision = await decideOrRefuse(context, presented, request);
      return isAdmission(decision) ? decision : await settle(context, decision, request);
    };
  };
}

/** What a decision rests on beside the request. */
interface DecisionContext<Request> {
  readonly latchkey: GuardLatchkey;
  readonly options: GuardOptions<Request>;
  readonly style: RefusalStyle;
  readonly ask: Ask<Request>;
  readonly isOptional: boolean;
}

async function decideOrRefuse<Request>(
  context: DecisionContext<Request>,
  presented: PresentedRequest,
  request: Request,
): Promise<Admission | Refusal> {
  const { options, style } = context;
  try {
    const { getKey } = options;
    const credential =
      getKey === undefined ? readCredential(presented) : readFoundKey(await getKey(request));
    return await decideOn(context, credential, presented, request);
  } catch (error) {
    const refusal = refuseError(style, error);
    // A disabled workspace is no failure.
    if (refusal.status >= 500) report(options, error, request);
    return refusal;
  }
}

async function decideOn<Request>(
  { latchkey, options, style, ask, isOptional }: DecisionContext<Request>,
  credential: Credential,
  presented: PresentedRequest,
  request: Request,
): Promise<Admission | Refusal> {
  if (credential.kind === "malformed")
    return refuseCredential(style, "KEY_MALFORMED", credential.detail);
  if (credential.kind === "none")
    return isOptional
      ? { admitted: true, apiKey: null, headers: {} }
      : refuseCredential(style, "KEY_MISSING");
  const { trustProxy = 0, getAddress } = options;
  const address =
    getAddress === undefined
      ? clientAddress(presented, trustProxy)
      : clientAddress({ forwardedFor: [], remoteAddress: getAddress(request) ?? null }, 0);
  const verdict = await ask(credential.key, address, request);
  const now = latchkey.now();
  if (verdict.code !== "VALID") return refuseVerdict(style, verdict, now);
  return { admitted: true, apiKey: verdict, headers: rateLimitFields(verdict.ratelimits, now) };
}

function isAdmission(decision: Admission | Refusal): decision is Admission {
  return "admitted" in decision && decision.admitted;
}

/** The refusal as the host's hook leaves it. Where the hook fails, that of the failure, which no hook sees again. */
async function settle<Request>(
  { options, style }: DecisionContext<Request>,
  refusal: Refusal,
  request: Request,
): Promise<Refused> {
  try {
    return settleRefusal(refusal, await options.onRefusal?.(refusal, request));
  } catch (error) {
    report(options, error, request);
    return settleRefusal(refuseError(style, error), undefined);
  }
}

/** A listener that throws has nowhere to report that. */
function report<Request>(options: GuardOptions<Request>, error: unknown, request: Request): void {
  const { onError = printError } = options;
  try {
    Promise.resolve(onError(error, request)).catch(() => undefined);
  } catch {
    // See above.
  }
}
