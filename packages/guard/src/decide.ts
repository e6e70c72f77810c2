import {
  type DefaultTypes,
  type LatchkeyTypes,
  unavailable,
  type VerifyOutcome,
} from "@latchkey/core";
import { AddressGate, FREE_PASSAGE, type Passage } from "./address-gate.js";
import { changedRefusal } from "./changed-refusal.js";
import { clientAddress } from "./client-address.js";
import { type Credential, KEY_WANTED, readCredential, readFoundKey } from "./credential.js";
import { createDeadline, type Turn } from "./deadline.js";
import { type HeldVerdict, OpenHold } from "./open-hold.js";
import { type GuardOptions, type GuardSettings, readOptions } from "./options.js";
import type { PresentedRequest } from "./presented-request.js";
import {
  type Ask,
  type GuardLatchkey,
  type GuardQuestion,
  type ReservingQuestion,
  readQuestion,
  withLimitName,
} from "./question.js";
import { rateLimitFields } from "./rate-limit-fields.js";
import type { Admission, ApiKey, Decision, Refusal, Refused } from "./refusal.js";
import { refuseAddress, refuseCredential, refuseFailure, refuseVerdict } from "./refuse.js";
import { createRefuser, type Refuser } from "./refuser.js";
import type { OnClose, ReservedKey } from "./reservation.js";

/**
 * Decides on one request of a guarded route. Never rejects: any failure is a refusal.
 *
 * @param request - Passed to your functions in the question and the options.
 */
export type Decide<
  Request,
  Types extends LatchkeyTypes = DefaultTypes,
  Key extends ApiKey<Types> = ApiKey<Types>,
> = (presented: PresentedRequest, request: Request) => Promise<Decision<Types, Key>>;

/** Creates the decision of a route from its question. */
export interface CreateDecision<Request, Types extends LatchkeyTypes = DefaultTypes> {
  (question: ReservingQuestion<Request, Types>): Decide<Request, Types, ReservedKey<Types>>;
  (question?: GuardQuestion<Request, Types>): Decide<Request, Types>;
}

/**
 * Creates the decision that all guards share: it turns the headers and address of a request into an admission or a refusal, as data. It
 * depends on no framework: `@latchkey/guard/express` and the others are thin layers over it, and so is one that you write.
 *
 * A request is admitted only with the verdict `VALID`, or without a key if the question has `optional`.
 *
 * @throws TypeError naming the wrong option. The returned function throws one for a wrong question, or a LatchkeyError `BAD_REQUEST`.
 * @example
 * const decide = createDecision(latchkey)({ permissions: "tiles.read" });
 * const decision = await decide(presented, request);
 * if (!decision.admitted) return new Response(decision.body, decision);
 */
export function createDecision<Request, Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options: GuardOptions<Request> = {},
): CreateDecision<Request, Types> {
  const { createDecide } = createDecisions(latchkey, options);
  const create = (question?: GuardQuestion<Request, Types>): Decide<Request, Types> => {
    const decide = createDecide(question);
    return (presented, request) => decide(() => presented, request);
  };
  return create as CreateDecision<Request, Types>;
}

/** Decides on one request of a guarded route. Never rejects. `present`: reads the request; if it throws, the refusal is a 500. */
type DecideOn<Request, Types extends LatchkeyTypes> = (
  present: () => PresentedRequest,
  request: Request,
) => Promise<Decision<Types>>;

/** What the entry of a framework builds its guards from. */
export interface Decisions<Request, Types extends LatchkeyTypes = DefaultTypes> {
  createDecide(question?: GuardQuestion<Request, Types>): DecideOn<Request, Types>;
  /** Reports the error with which the handler of an admitted request failed, and returns the response. Never rejects. */
  refuseFailure(error: unknown, request: Request): Promise<Refused>;
  /** Reports an error to the host. */
  report(error: unknown, request: Request): void;
}

/**
 * Creates the decisions of an entry. Throws as {@link createDecision} does.
 *
 * @param defaults - Options of the entry, used where the host gives none.
 */
export function createDecisions<Request, Types extends LatchkeyTypes>(
  latchkey: GuardLatchkey<Types>,
  options: GuardOptions<Request> = {},
  defaults: Pick<GuardOptions<Request>, "onError"> = {},
): Decisions<Request, Types> {
  if (typeof latchkey?.verifier !== "function")
    throw new TypeError('"latchkey" must be the object that createLatchkey returns');
  // The names that a program declares are types only: at run time, any latchkey will do.
  const anyLatchkey = latchkey as unknown as GuardLatchkey;
  const settings = readOptions(options, defaults);
  const { limitByAddress, timeoutMs } = settings;
  const refuser = createRefuser(anyLatchkey, settings);
  const gate = limitByAddress === null ? null : new AddressGate(limitByAddress, latchkey.now);
  const guard = { latchkey: anyLatchkey, settings, refuser, gate };
  const within = createDeadline(timeoutMs);
  const refuseLate = (request: Request): Refused => {
    const what = `no decision in ${timeoutMs} ms: the store or a function of the guard took too long`;
    // It does not go through `onRefusal`: there is no time left for a hook.
    return changedRefusal(refuser.refusalOf(unavailable(what, "unknown"), request), undefined);
  };
  const decisions: Decisions<Request> = {
    createDecide: (question = {}) => {
      const route = { ...guard, ...readQuestion(anyLatchkey, question, settings) };
      return (present, request) =>
        within<Decision>(
          (turn, settle) => decide(route, present, request, turn, settle),
          () => refuseLate(request),
        );
    },
    refuseFailure: (error, request) => {
      refuser.report(error, request);
      return within(
        (_turn, settle) => {
          void refuser.refuse(refuseFailure(refuser.style), request).then(settle);
        },
        () => refuseLate(request),
      );
    },
    report: refuser.report,
  };
  return decisions as unknown as Decisions<Request, Types>;
}

/** What a decision needs besides the request. */
interface Route<Request> {
  readonly latchkey: GuardLatchkey;
  readonly settings: GuardSettings<Request>;
  readonly refuser: Refuser<Request>;
  readonly gate: AddressGate | null;
  readonly ask: Ask<Request>;
  readonly isOptional: boolean;
  readonly onClose: OnClose | null;
  readonly limitNames: readonly string[];
}

/** Never rejects. One function on purpose: a second async function would add 6 % to the time of an admission in memory. */
async function decide<Request>(
  route: Route<Request>,
  present: () => PresentedRequest,
  request: Request,
  turn: Turn,
  settle: (decision: Decision) => void,
): Promise<void> {
  const { gate, refuser, settings, ask } = route;
  let refusal: Refusal;
  let passage: Passage = FREE_PASSAGE;
  let isFailure = false;
  try {
    const presented = present();
    let address: string | null | undefined;
    if (gate !== null) {
      address = await addressOf(route, presented, request);
      passage = await gate.enter(address, turn);
    }
    if (passage.kind === "no-room") refusal = refuseAddress(refuser.style, passage.retryAfterMs);
    else {
      const { getKey } = settings;
      const credential = getKey ? readFoundKey(await getKey(request)) : readCredential(presented);
      let decision: Admission | Refusal;
      if (credential.kind === "key") {
        if (address === undefined) {
          const found = addressOf(route, presented, request);
          address = typeof found === "object" && found !== null ? await found : found;
        }
        const verdict = turn.isOver ? null : await ask(credential.key, address, request, turn);
        decision = decideOnVerdict(route, verdict, request);
      } else decision = decideWithoutKey(route, credential, getKey ? undefined : KEY_WANTED);
      if (decision.admitted) {
        // The request timed out: free what was held for it.
        if (turn.isOver) decision.end?.("release");
        return settle(decision);
      }
      refusal = decision;
      // Whatever status a hook turns it into.
      isFailure = refusal.status === 401;
    }
  } catch (error) {
    // A timeout was reported to the host when it happened.
    if (turn.isOver) return;
    refusal = refusalOfError(route, error, request);
  } finally {
    if (passage.kind === "pass") passage.leave(isFailure);
  }
  settle(await refuser.refuse(refusal, request));
}

function refusalOfError<Request>(
  { refuser, limitNames }: Route<Request>,
  error: unknown,
  request: Request,
): Refusal {
  try {
    return refuser.refusalOf(withLimitName(error, limitNames), request);
  } catch {
    // The host may have thrown an object whose getters throw.
    refuser.report(error, request);
    return refuseFailure(refuser.style);
  }
}

/** `wanted`: what a client without a key is told; absent: only that it needs one. */
function decideWithoutKey<Request>(
  { refuser: { style }, isOptional }: Route<Request>,
  credential: Exclude<Credential, { readonly kind: "key" }>,
  wanted?: string,
): Admission | Refusal {
  if (credential.kind === "malformed")
    return refuseCredential(style, "KEY_MALFORMED", credential.detail);
  return isOptional
    ? { admitted: true, apiKey: null, headers: {} }
    : refuseCredential(style, "KEY_MISSING", wanted);
}

/** `verdict`: null if the request timed out before anything was taken. */
function decideOnVerdict<Request>(
  { refuser: { style, report }, latchkey, onClose }: Route<Request>,
  verdict: VerifyOutcome | null,
  request: Request,
): Admission | Refusal {
  if (verdict === null) return refuseFailure(style);
  const now = latchkey.now();
  if (verdict.code !== "VALID") return refuseVerdict(style, verdict, now);
  const headers = rateLimitFields(verdict.ratelimits, now);
  // The plain read comes first because it is cheap; `hasOwn` because a polluted prototype would give every verdict a reservation.
  if (verdict.reservationId === undefined || !Object.hasOwn(verdict, "reservationId"))
    return { admitted: true, apiKey: verdict, headers };
  const held = verdict as HeldVerdict;
  const port = { latchkey, report: (error: unknown) => report(error, request) };
  const hold = new OpenHold(port, held, onClose, now);
  const apiKey = onClose === null ? held : hold.keyOf(held);
  return { admitted: true, apiKey, headers, end: (how) => hold.end(how) };
}

/** Address of a request; null if unknown. Synchronous unless the host has a `getAddress`. */
function addressOf<Request>(
  { settings: { getAddress, trustProxy } }: Route<Request>,
  presented: PresentedRequest,
  request: Request,
): string | null | Promise<string | null> {
  if (!getAddress) return clientAddress(presented, trustProxy);
  return foundAddress(getAddress, request);
}

async function foundAddress<Request>(
  getAddress: NonNullable<GuardOptions<Request>["getAddress"]>,
  request: Request,
): Promise<string | null> {
  const remoteAddress = (await getAddress(request)) ?? null;
  return clientAddress({ forwardedFor: [], remoteAddress }, 0);
}
