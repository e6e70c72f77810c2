import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import { createDecisions } from "./decide.js";
import type { GuardOptions } from "./options.js";
import { hasWebHeaders, otherFramework } from "./other-framework.js";
import type { GuardLatchkey, GuardQuestion, NotOptional, ReservingQuestion } from "./question.js";
import type { ApiKey } from "./refusal.js";
import type { ReservedKey } from "./reservation.js";
import { presentedByHeaders, refusedResponse, untilBodyEnds, withHeaders } from "./web-request.js";

export type {
  ApiKey,
  ApiKeyOf,
  GuardLatchkey,
  GuardOptions,
  GuardQuestion,
  ReservedKey,
} from "./named-types.js";

/** First argument of a fetch handler: a request (Next.js, Bun, Deno), or an event that has one (React Router, SvelteKit, Astro). */
export type RequestOrEvent = Request | { readonly request: Request };

/** A guarded handler: it gets the request, the verdict, then anything else that the framework passes. */
export type FetchHandler<Subject extends RequestOrEvent, Rest extends unknown[], Key> = (
  subject: Subject,
  apiKey: Key,
  ...rest: Rest
) => Response | Promise<Response>;

/** A handler as the framework calls it. */
export type FetchListener<Subject extends RequestOrEvent, Rest extends unknown[]> = (
  subject: Subject,
  ...rest: Rest
) => Promise<Response>;

/**
 * Creates a guarded handler from a question and a handler. With `optional: true` the verdict may be null, with `reserve` it has `settle`
 * and `release`.
 */
export interface CreateFetchGuard<Types extends LatchkeyTypes = DefaultTypes> {
  <Subject extends RequestOrEvent = Request, Rest extends unknown[] = []>(
    question: ReservingQuestion<Request, Types> & NotOptional,
    handler: FetchHandler<Subject, Rest, ReservedKey<Types>>,
  ): FetchListener<Subject, Rest>;
  <Subject extends RequestOrEvent = Request, Rest extends unknown[] = []>(
    question: ReservingQuestion<Request, Types>,
    handler: FetchHandler<Subject, Rest, ReservedKey<Types> | null>,
  ): FetchListener<Subject, Rest>;
  <Subject extends RequestOrEvent = Request, Rest extends unknown[] = []>(
    question: GuardQuestion<Request, Types> & NotOptional,
    handler: FetchHandler<Subject, Rest, ApiKey<Types>>,
  ): FetchListener<Subject, Rest>;
  <Subject extends RequestOrEvent = Request, Rest extends unknown[] = []>(
    question: GuardQuestion<Request, Types>,
    handler: FetchHandler<Subject, Rest, ApiKey<Types> | null>,
  ): FetchListener<Subject, Rest>;
}

/**
 * Creates guards for handlers of web standard requests: route handlers of Next.js, loaders of Remix, endpoints of SvelteKit, `Bun.serve`,
 * `Deno.serve`. Each calls its handler with the verdict, or sends the refusal.
 *
 * A web standard request has no address: set `trustProxy`, or find it with `getAddress`.
 *
 * @throws TypeError naming the wrong option. A question is checked when you create its guard, before the first request.
 * @example
 * const guard = createGuard(latchkey, { trustProxy: 1 });
 * export const GET = guard({ permissions: "tiles.read" }, async (request, apiKey) => Response.json(apiKey.keyId));
 */
export function createGuard<Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<Request>,
): CreateFetchGuard<Types> {
  const { createDecide } = createDecisions(latchkey, options);
  const guard = <Subject extends RequestOrEvent, Rest extends unknown[]>(
    question: GuardQuestion<Request, Types>,
    handler: FetchHandler<Subject, Rest, ApiKey<Types> | null>,
  ): FetchListener<Subject, Rest> => {
    if (typeof handler !== "function") throw new TypeError('"handler" must be a function');
    const decide = createDecide(question);
    const respond = async (request: Request, subject: Subject, rest: Rest): Promise<Response> => {
      const decision = await decide(() => presentedByHeaders(request.headers, null), request);
      if (!decision.admitted) return refusedResponse(decision);
      const { apiKey, headers, end } = decision;
      const answer = () => handler(subject, apiKey, ...rest);
      const response =
        end === undefined
          ? checked(await answer())
          : await untilBodyEnds(request, async () => checked(await answer()), end);
      return withHeaders(response, headers);
    };
    return (subject, ...rest) => {
      const request = requestOf(subject);
      if (request === undefined || !hasWebHeaders(request))
        throw otherFramework("web standard requests");
      return respond(request, subject, rest);
    };
  };
  return guard as CreateFetchGuard<Types>;
}

/**
 * The result of a handler. Not checked with `instanceof`, because frameworks bring a Response of their own.
 *
 * @throws TypeError if it is no Response, such as the plain object that a loader of React Router may return. Reading headers of it would
 * fail without naming the reason.
 */
function checked(result: unknown): Response {
  if (hasWebHeaders(result)) return result as Response;
  throw new TypeError("a guarded handler must return a Response");
}

/** A request has headers, an event has none. `request` is not checked, because a polluted prototype would have it. */
function requestOf(subject: RequestOrEvent): Request | undefined {
  return hasWebHeaders(subject)
    ? (subject as Request)
    : (subject as { readonly request: Request } | undefined)?.request;
}
