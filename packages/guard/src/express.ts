import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import type { Request, Response } from "express";
import { createDecisions } from "./decide.js";
import {
  type NodeRequest,
  presentedByNode,
  watchResponse,
  writeFailure,
  writeHeaders,
  writeRefusal,
} from "./node-request.js";
import type { GuardOptions } from "./options.js";
import { isNodeResponse, otherFramework } from "./other-framework.js";
import { ownApiKey, ownReservedKey } from "./own-api-key.js";
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

declare global {
  namespace Express {
    interface Request {
      /**
       * The verdict on the key of this request: absent without a guard, null if the key is optional and none was presented. Behind a guard,
       * `res.locals.apiKey` is the same verdict, typed by that guard.
       */
      apiKey?: ApiKey | null;
    }
  }
}

/**
 * Middleware of one route. The handlers find the verdict in `res.locals.apiKey`. It declares no path parameters, so the route's own ones
 * stay typed. It returns no promise: Restify would take one that resolves after a refusal for a call of `next`.
 */
export type ExpressGuard<Key = ApiKey> = (
  request: NodeRequest,
  // biome-ignore lint/suspicious/noExplicitAny: as Express types the bodies and the other locals of a route
  response: Response<any, Record<string, any> & { apiKey: Key }>,
  next: (error?: unknown) => void,
) => void;

/**
 * Creates the guard of a route from its question. With `optional: true` the verdict may be null, with `reserve` it has `settle` and
 * `release`.
 */
export interface CreateExpressGuard<Types extends LatchkeyTypes = DefaultTypes> {
  (question: ReservingQuestion<Request, Types> & NotOptional): ExpressGuard<ReservedKey<Types>>;
  (question: ReservingQuestion<Request, Types>): ExpressGuard<ReservedKey<Types> | null>;
  (question?: GuardQuestion<Request, Types> & NotOptional): ExpressGuard<ApiKey<Types>>;
  (question: GuardQuestion<Request, Types>): ExpressGuard<ApiKey<Types> | null>;
}

/**
 * Creates guards for routes of Express 4 and 5. Each puts the verdict in `req.apiKey` and `res.locals.apiKey` and calls the next handler,
 * or sends the refusal.
 *
 * @throws TypeError naming the wrong option. A question is checked when you create its guard, before the first request.
 * @example
 * const guard = createGuard(latchkey, { trustProxy: 1 });
 * app.get("/tiles", guard({ permissions: "tiles.read" }), (req, res) => res.json(res.locals.apiKey.keyId));
 */
export function createGuard<Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<Request>,
): CreateExpressGuard<Types> {
  const { createDecide, refuseFailure } = createDecisions(latchkey, options);
  const guard = (question?: GuardQuestion<Request, Types>): ExpressGuard<ApiKey<Types> | null> => {
    const decide = createDecide(question);
    type Guard = ExpressGuard<ApiKey<Types> | null>;
    const admit = async (...[request, response, next]: Parameters<Guard>): Promise<void> => {
      try {
        const hadBegun = response.headersSent;
        const decision = await decide(() => presentedByNode(request), request as Request);
        if (!decision.admitted) return writeRefusal(response, decision, hadBegun);
        // The host has already responded: there is nothing left to do.
        if (response.writableEnded) return decision.end?.("release");
        watchResponse(request, response, decision);
        writeHeaders(response, decision);
        (request as { apiKey?: ApiKey | null }).apiKey = decision.apiKey as ApiKey | null;
        // Other servers that take the middleware of Express may have no `locals`: Connect, Polka, Restify, Socket.IO.
        if (response.locals !== undefined) response.locals.apiKey = decision.apiKey;
        next();
      } catch (error) {
        await writeFailure(response, refuseFailure(error, request as Request));
      }
    };
    return (request, response, next) => {
      if (typeof next !== "function") throw otherFramework("Express");
      if (!isNodeResponse(response)) return next(otherFramework("Express"));
      void admit(request, response, next);
    };
  };
  return guard as CreateExpressGuard<Types>;
}

/** The verdict on the key of a request; null if none was presented, or there is no guard. */
export function apiKeyOf(request: NodeRequest): ApiKey | null {
  return ownApiKey(request);
}

/** The same on a route that reserves, with `settle` and `release`; null behind any other guard. */
export function reservedKeyOf(request: NodeRequest): ReservedKey | null {
  return ownReservedKey(request);
}
