import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import type { Context, DefaultContext, Middleware } from "koa";
import { createDecisions } from "./decide.js";
import { presentedByNode, watchResponse } from "./node-request.js";
import type { GuardOptions } from "./options.js";
import { isNodeResponse, otherFramework } from "./other-framework.js";
import type { GuardLatchkey, GuardQuestion, NotOptional, ReservingQuestion } from "./question.js";
import type { ApiKey } from "./refusal.js";
import type { ReservedKey } from "./reservation.js";

export type {
  ApiKey,
  ApiKeyOf,
  GuardLatchkey,
  GuardOptions,
  GuardQuestion,
  ReservedKey,
} from "./named-types.js";

/** Middleware that sets `ctx.state.apiKey`: null only if the key is optional and none was presented. */
export type KoaGuard<Key = ApiKey> = Middleware<{ apiKey: Key }, DefaultContext>;

/** Creates the guard of a route from its question. With `reserve`, the verdict has `settle` and `release`. */
export interface CreateKoaGuard<Types extends LatchkeyTypes = DefaultTypes> {
  (question: ReservingQuestion<Context, Types> & NotOptional): KoaGuard<ReservedKey<Types>>;
  (question: ReservingQuestion<Context, Types>): KoaGuard<ReservedKey<Types> | null>;
  (question?: GuardQuestion<Context, Types> & NotOptional): KoaGuard<ApiKey<Types>>;
  (question: GuardQuestion<Context, Types>): KoaGuard<ApiKey<Types> | null>;
}

/**
 * Creates guards for Koa 2 and 3, and for routes of `@koa/router`. Each puts the verdict in `ctx.state.apiKey` and calls the next
 * middleware, or sends the refusal, which earlier middleware sees in `ctx.status` and `ctx.body`.
 *
 * @throws TypeError naming the wrong option. A question is checked when you create its guard, before the first request.
 * @example
 * const guard = createGuard(latchkey, { trustProxy: 1 });
 * router.get("/tiles", guard({ permissions: "tiles.read" }), (ctx) => {
 *   ctx.body = ctx.state.apiKey.keyId;
 * });
 */
export function createGuard<Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<Context>,
): CreateKoaGuard<Types> {
  const { createDecide } = createDecisions(latchkey, options);
  const guard = (question?: GuardQuestion<Context, Types>): KoaGuard<ApiKey<Types> | null> => {
    const decide = createDecide(question);
    const admit: KoaGuard<ApiKey<Types> | null> = async (context, next) => {
      const { req, res } = context;
      const decision = await decide(() => presentedByNode(req), context as Context);
      // The host has already responded: there is nothing left to do.
      if (res.writableEnded) {
        if (decision.admitted) decision.end?.("release");
        return;
      }
      if (decision.admitted) watchResponse(req, res, decision);
      context.set(decision.headers);
      if (!decision.admitted) {
        context.status = decision.status;
        context.body = decision.body;
        return;
      }
      context.state.apiKey = decision.apiKey;
      await next();
    };
    return (context, next) => {
      if (typeof next !== "function" || !isNodeResponse(context?.res)) throw otherFramework("Koa");
      return admit(context, next);
    };
  };
  return guard as CreateKoaGuard<Types>;
}
