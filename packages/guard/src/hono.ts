import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import type { Context, MiddlewareHandler } from "hono";
import { createDecisions } from "./decide.js";
import type { GuardOptions } from "./options.js";
import type { GuardLatchkey, GuardQuestion } from "./question.js";
import type { ApiKey } from "./refusal.js";
import { presentedByHeaders, refusedResponse, withHeaders } from "./web-request.js";

/** Middleware that sets `apiKey`: null only where a key is optional and none was presented. */
export type HonoGuard<Key> = MiddlewareHandler<{
  Variables: { apiKey: Key };
}>;

/** Makes the guard of a route of its question. */
export interface CreateHonoGuard<Types extends LatchkeyTypes = DefaultTypes> {
  (
    question?: GuardQuestion<Context, Types> & { readonly optional?: false },
  ): HonoGuard<ApiKey<Types>>;
  (question: GuardQuestion<Context, Types>): HonoGuard<ApiKey<Types> | null>;
}

/** What `@hono/node-server` adds. */
interface NodeEnvironment {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

/**
 * Makes guards for routes of Hono 4. Each sets `apiKey` and calls the next handler, or answers the refusal.
 *
 * The address of the socket is known on `@hono/node-server`. On other runtimes state the proxies (`trustProxy`) or find the address
 * with `getAddress`.
 *
 * @throws TypeError naming the option that is wrong. A guard is made of a question, which is checked then: before the first request.
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
    return async (context, next) => {
      const present = () => presentedByHeaders(context.req.raw.headers, remoteAddressOf(context));
      const decision = await decide(present, context as Context);
      if (!decision.admitted) return refusedResponse(decision);
      context.set("apiKey", decision.apiKey);
      await next();
      const response = withHeaders(context.res, decision.headers);
      // Hono copies a response that is set, so only where it has to be another.
      if (response !== context.res) context.res = response;
      return undefined;
    };
  };
  return guard as CreateHonoGuard<Types>;
}

function remoteAddressOf({ env }: Context): string | null {
  const isNode = typeof env === "object" && env !== null && Object.hasOwn(env, "incoming");
  return isNode ? ((env as NodeEnvironment).incoming?.socket?.remoteAddress ?? null) : null;
}
