import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import { clientAddress } from "./client-address.js";
import { type Credential, readCredential, readFoundKey } from "./credential.js";
import { checkOptions, type GuardOptions } from "./options.js";
import type { PresentedRequest } from "./presented-request.js";
import { type Ask, type GuardLatchkey, type GuardQuestion, readQuestion } from "./question.js";
import { rateLimitFields } from "./rate-limit-fields.js";
import type { Admission, Decision, Refusal } from "./refusal.js";
import { refuseCredential, refuseError, refuseVerdict } from "./refuse.js";
import { createRefuser, type Refuser } from "./refuser.js";

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
  const refuser = createRefuser(latchkey, options);
  return (question = {}) => {
    const ask = readQuestion(latchkey, question);
    const isOptional = question.optional === true;
    const context = { latchkey, options, refuser, ask, isOptional };
    return async (presented, request) => {
      const decision = await decideOrRefuse(context, presented, request);
      return isAdmission(decision) ? decision : await refuser.refuse(decision, request);
    };
  };
}

/** What a decision rests on beside the request. */
interface DecisionContext<Request> {
  readonly latchkey: GuardLatchkey;
  readonly options: GuardOptions<Request>;
  readonly refuser: Refuser<Request>;
  readonly ask: Ask<Request>;
  readonly isOptional: boolean;
}

async function decideOrRefuse<Request>(
  context: DecisionContext<Request>,
  presented: PresentedRequest,
  request: Request,
): Promise<Admission | Refusal> {
  const { refuser } = context;
  try {
    const { getKey } = context.options;
    const credential =
      getKey === undefined ? readCredential(presented) : readFoundKey(await getKey(request));
    return await decideOn(context, credential, presented, request);
  } catch (error) {
    const refusal = refuseError(refuser.style, error);
    // A disabled workspace is no failure.
    if (refusal.status >= 500) refuser.report(error, request);
    return refusal;
  }
}

async function decideOn<Request>(
  { latchkey, options, refuser: { style }, ask, isOptional }: DecisionContext<Request>,
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
