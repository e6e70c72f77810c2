import type { IncomingMessage, ServerResponse } from "node:http";
import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import { createDecisions } from "./decide.js";
import {
  presentedByNode,
  watchResponse,
  writeFailure,
  writeHeaders,
  writeRefusal,
} from "./node-request.js";
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

/** A guarded listener: it gets the verdict as its third argument. */
export type NodeHandler<Key> = (
  request: IncomingMessage,
  response: ServerResponse,
  apiKey: Key,
) => unknown;

/** A listener for `createServer`. It resolves when the handler has, and never rejects, because Node would end the process. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Creates a guarded listener from a question and a handler. With `optional: true` the verdict may be null, with `reserve` it has `settle`
 * and `release`.
 */
export interface CreateNodeGuard<Types extends LatchkeyTypes = DefaultTypes> {
  (
    question: ReservingQuestion<IncomingMessage, Types> & NotOptional,
    handler: NodeHandler<ReservedKey<Types>>,
  ): NodeListener;
  (
    question: ReservingQuestion<IncomingMessage, Types>,
    handler: NodeHandler<ReservedKey<Types> | null>,
  ): NodeListener;
  (
    question: GuardQuestion<IncomingMessage, Types> & NotOptional,
    handler: NodeHandler<ApiKey<Types>>,
  ): NodeListener;
  (
    question: GuardQuestion<IncomingMessage, Types>,
    handler: NodeHandler<ApiKey<Types> | null>,
  ): NodeListener;
}

/**
 * Creates guards for listeners of `node:http`. Each calls its handler with the verdict, or sends the refusal.
 *
 * If a handler throws or rejects, the response is a 500, or is aborted if it has started, and `onError` is called with the error.
 *
 * @throws TypeError naming the wrong option. A question is checked when you create its guard, before the first request.
 * @example
 * const guard = createGuard(latchkey, { trustProxy: 1 });
 * createServer(guard({ permissions: "tiles.read" }, (req, res, apiKey) => res.end(apiKey.keyId)));
 */
export function createGuard<Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<IncomingMessage>,
): CreateNodeGuard<Types> {
  const { createDecide, refuseFailure } = createDecisions(latchkey, options);
  const guard = (
    question: GuardQuestion<IncomingMessage, Types>,
    handler: NodeHandler<ApiKey<Types> | null>,
  ): NodeListener => {
    if (typeof handler !== "function") throw new TypeError('"handler" must be a function');
    const decide = createDecide(question);
    const answer: NodeListener = async (request, response) => {
      try {
        const hadBegun = response.headersSent;
        const decision = await decide(() => presentedByNode(request), request);
        if (!decision.admitted) return writeRefusal(response, decision, hadBegun);
        // The host has already responded: there is nothing left to do.
        if (response.writableEnded) return decision.end?.("release");
        watchResponse(request, response, decision);
        writeHeaders(response, decision);
        await handler(request, response, decision.apiKey);
      } catch (error) {
        await writeFailure(response, refuseFailure(error, request));
      }
    };
    return (request, response) => {
      if (!isNodeResponse(response)) throw otherFramework("node:http");
      return answer(request, response);
    };
  };
  return guard as CreateNodeGuard<Types>;
}
