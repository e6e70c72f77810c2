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
import type { GuardLatchkey, GuardQuestion } from "./question.js";
import type { ApiKey } from "./refusal.js";
import type { Reserve, ReservedKey } from "./reservation.js";

/** A guarded listener: what it is called with beside request and response is the verdict. */
export type NodeHandler<Key> = (
  request: IncomingMessage,
  response: ServerResponse,
  apiKey: Key,
) => unknown;

/** A listener for `createServer`. It resolves when the handler has, and never rejects: Node would end the process. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Makes a guarded listener of a question and a handler. With `optional: true` the verdict may be null, with `reserve` it has `settle` and
 * `release`.
 */
export interface CreateNodeGuard<Types extends LatchkeyTypes = DefaultTypes> {
  (
    question: GuardQuestion<IncomingMessage, Types> & {
      readonly reserve: Reserve<IncomingMessage>;
      readonly optional?: false;
    },
    handler: NodeHandler<ReservedKey<Types>>,
  ): NodeListener;
  (
    question: GuardQuestion<IncomingMessage, Types> & {
      readonly reserve: Reserve<IncomingMessage>;
    },
    handler: NodeHandler<ReservedKey<Types> | null>,
  ): NodeListener;
  (
    question: GuardQuestion<IncomingMessage, Types> & { readonly optional?: false },
    handler: NodeHandler<ApiKey<Types>>,
  ): NodeListener;
  (
    question: GuardQuestion<IncomingMessage, Types>,
    handler: NodeHandler<ApiKey<Types> | null>,
  ): NodeListener;
}

/**
 * Makes guards for listeners of `node:http`. Each calls its handler with the verdict, or answers the refusal.
 *
 * A handler that throws or rejects is answered as a framework would: with 500, or by breaking off what was begun to be sent.
 * `onError` is called with the error.
 *
 * @throws TypeError naming the option that is wrong. A guard is made of a question, which is checked then: before the first request.
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
    return async (request, response) => {
      try {
        const decision = await decide(() => presentedByNode(request), request);
        if (!decision.admitted) return writeRefusal(response, decision);
        // The host has answered meanwhile: there is nothing left to hand on.
        if (response.writableEnded) return decision.end?.("release");
        watchResponse(request, response, decision);
        writeHeaders(response, decision);
        await handler(request, response, decision.apiKey);
      } catch (error) {
        await writeFailure(response, refuseFailure(error, request));
      }
    };
  };
  return guard as CreateNodeGuard<Types>;
}
