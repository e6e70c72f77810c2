import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import type { Request } from "express";
import { createDecision } from "./decide.js";
import {
  type NodeRequest,
  type NodeResponse,
  presentedByNode,
  writeHeaders,
  writeRefusal,
} from "./node-request.js";
import type { GuardOptions } from "./options.js";
import type { GuardLatchkey, GuardQuestion } from "./question.js";
import type { ApiKey } from "./refusal.js";

declare global {
  namespace Express {
    interface Request {
      /**
       * The verdict on the key of this request, behind a guard. Behind one with `optional: true` it may be null: there read it by
       * `apiKeyOf`, which says so.
       */
      apiKey: ApiKey;
    }
  }
}

/** Middleware of one route. It names no path parameters, so those of the route stay typed. */
export type ExpressGuard = (
  request: NodeRequest,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

/**
 * Makes guards for routes of Express 5. Each puts the verdict in `req.apiKey` and calls the next handler, or answers the refusal.
 *
 * @throws TypeError naming the option that is wrong. A guard is made of a question, which is checked then: before the first request.
 * @example
 * const guard = createGuard(latchkey, { trustProxy: 1 });
 * app.get("/tiles", guard({ permissions: "tiles.read" }), (req, res) => res.json(req.apiKey.keyId));
 */
export function createGuard<Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<Request>,
): (question?: GuardQuestion<Request, Types>) => ExpressGuard {
  const createDecide = createDecision(latchkey, options);
  return (question) => {
    const decide = createDecide(question);
    return async (request, response, next) => {
      const decision = await decide(presentedByNode(request), request as Request);
      if (!decision.admitted) return writeRefusal(response, decision);
      writeHeaders(response, decision);
      (request as { apiKey?: ApiKey | null }).apiKey = decision.apiKey as ApiKey | null;
      next();
    };
  };
}

/** The verdict on the key of a request; null where none was presented, or no guard was passed. */
export function apiKeyOf(request: NodeRequest): ApiKey | null {
  return (request as { readonly apiKey?: ApiKey | null }).apiKey ?? null;
}
