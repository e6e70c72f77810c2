import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import type { Context, MiddlewareHandler } from "hono";
import { createDecisions } from "./decide.js";
import type { GuardOptions } from "./options.js";
import { hasWebHeaders, otherFramework } from "./other-framework.js";
import type { GuardLatchkey, GuardQuestion, NotOptional, ReservingQuestion } from "./question.js";
import type { ApiKey } from "./refusal.js";
import type { ReservedKey } from "./reservation.js";
import { whenResponseEnds } from "./response-end.js";
import { presentedByHeaders, refusedResponse, untilBodyEnds, withHeaders } from "./web-request.js";

export type {
  ApiKey,
  ApiKeyOf,
  GuardLatchkey,
  GuardOptions,
  GuardQuestion,
  ReservedKey,
} from "./named-types.js";

/** Middleware that sets `apiKey`: null only if the key is optional and none was presented. */
export type HonoGuard<Key> = MiddlewareHandler<{
  Variables: { apiKey: Key };
}>;

/** Creates the guard of a route from its question. With `reserve`, the verdict has `settle` and `release`. */
export interface CreateHonoGuard<Types extends LatchkeyTypes = DefaultTypes> {
  (question: ReservingQuestion<Context, Types> & NotOptional): HonoGuard<ReservedKey<Types>>;
  (question: ReservingQuestion<Context, Types>): HonoGuard<ReservedKey<Types> | null>;
  (question?: GuardQuestion<Context, Types> & NotOptional): HonoGuard<ApiKey<Types>>;
  (question: GuardQuestion<Context, Types>): HonoGuard<ApiKey<Types> | null>;
}

/** What `@hono/node-server` puts into `env`. */
interface NodeEnvironment {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  readonly outgoing?: unknown;
}

/**
 * Creates guards for routes of Hono 4. Each sets `apiKey` and calls the next handler, or sends the refusal.
 *
 * The address of the socket is known on `@hono/node-server`. On other runtimes, set `trustProxy`, or find the address with `getAddress`.
 *
 * @throws TypeError naming the wrong option. A question is checked when you create its guard, before the first request.
 * @example
 * const guard = createGuard(latchkey, { trustProxy: 1 });
 * app.get("/tiles", guard({ permissions: "tiles.read" }), (c) => c.json(c.get("apiKey").keyId));
 */
export function createGuard<Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<Context>,
): CreateHonoGuard<Types> {
  const { createDecide } = createDecisions(latchkey, options);
  const guard = (question?: GuardQuestion<Context, Types>): HonoGuard<ApiKey<Types> | null> => {
    const decide = createDecide(question);
    const admit: HonoGuard<ApiKey<Types> | null> = async (context, next) => {
      const present = () => presentedByHeaders(context.req.raw.headers, remoteAddressOf(context));
      const decision = await decide(present, context as Context);
      if (!decision.admitted) return refusedResponse(decision);
      const { headers, end } = decision;
      context.set("apiKey", decision.apiKey);
      // As in other frameworks, those of earlier middleware are replaced, and the handler may set its own.
      for (const name of Object.keys(headers)) context.header(name, undefined);
      let response: Response;
      if (end === undefined || whenResponseEnds(...onNode(context), end)) {
        await next();
        response = withHeaders(context.res, headers);
      } else {
        const answer = async () => {
          await next();
          return context.res;
        };
        response = withHeaders(await untilBodyEnds(context.req.raw, answer, end), headers);
      }
      if (response !== context.res) {
        // Otherwise Hono merges the two, and its first versions fail on immutable headers.
        context.res = undefined;
        context.res = response;
      }
      return undefined;
    };
    return (context, next) => {
      if (typeof next !== "function" || !hasWebHeaders(context?.req?.raw))
        throw otherFramework("Hono");
      return admit(context, next);
    };
  };
  return guard as CreateHonoGuard<Types>;
}

function remoteAddressOf({ env }: Context): string | null {
  return nodeOf(env)?.incoming?.socket?.remoteAddress ?? null;
}

/** The request and response of Node, which report their end. */
function onNode({ env }: Context): [request: { readonly socket?: unknown }, response: unknown] {
  const node = nodeOf(env);
  return [node?.incoming ?? {}, node?.outgoing];
}

function nodeOf(env: unknown): NodeEnvironment | null {
  const isNode = typeof env === "object" && env !== null && Object.hasOwn(env, "incoming");
  return isNode ? (env as NodeEnvironment) : null;
}
