import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { createDecisions } from "./decide.js";
import { presentedByNode, watchResponse } from "./node-request.js";
import type { GuardOptions } from "./options.js";
import { otherFramework } from "./other-framework.js";
import { ownApiKey, ownReservedKey } from "./own-api-key.js";
import type { GuardLatchkey, GuardQuestion } from "./question.js";
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

declare module "fastify" {
  interface FastifyRequest {
    /**
     * The verdict on the key of this request, behind a guard. With `optional: true` it may be null: there, read it with `apiKeyOf`, whose
     * type says so.
     */
    apiKey: ApiKey;
  }
}

/** A hook of one route: `preHandler`, or `onRequest`, which refuses before the body is read. */
export type FastifyGuard = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Creates a guard from a question. */
export type CreateFastifyGuard<Types extends LatchkeyTypes = DefaultTypes> = (
  question?: GuardQuestion<FastifyRequest, Types>,
) => FastifyGuard;

/**
 * Creates guards for routes of Fastify 5. Each puts the verdict in `request.apiKey`, or sends the refusal.
 *
 * Errors go to the log of the request unless `onError` is given.
 *
 * @throws TypeError naming the wrong option. A question is checked when you create its guard, before the first request.
 * @example
 * const guard = createGuard(latchkey, { trustProxy: 1 });
 * app.get("/tiles", { preHandler: guard({ permissions: "tiles.read" }) }, async (request) => request.apiKey.keyId);
 */
export function createGuard<Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<FastifyRequest>,
): CreateFastifyGuard<Types> {
  const { createDecide } = createDecisions(latchkey, options, {
    onError: (error, request) => request.log.error(error),
  });
  return (question) => {
    const decide = createDecide(question);
    const admit: FastifyGuard = async (request, reply) => {
      const decision = await decide(() => presentedByNode(request.raw), request);
      // The host has already responded: Fastify then stops by itself.
      if (reply.sent) {
        if (decision.admitted) decision.end?.("release");
        return reply;
      }
      if (decision.admitted) watchResponse(request.raw, reply.raw, decision);
      reply.headers(decision.headers);
      // As bytes: Fastify would add a charset to the media type of a text, and problem details have none.
      if (!decision.admitted) return reply.code(decision.status).send(Buffer.from(decision.body));
      (request as { apiKey: ApiKey | null }).apiKey = decision.apiKey as ApiKey | null;
      return undefined;
    };
    return (request, reply, ...rest: readonly unknown[]) => {
      if (typeof reply?.headers !== "function") throw otherFramework("Fastify");
      if (isAfterHandler(reply, rest))
        throw new TypeError(
          'a guard must run before the handler, as a hook such as "onRequest" or "preHandler"',
        );
      return admit(request, reply);
    };
  };
}

/**
 * Whether a hook runs after the handler, which the guard then cannot keep from running. Refusing in `onSend` would never end: it sends a
 * response, for which Fastify calls the hook again.
 *
 * @param rest - What Fastify passes besides: a callback, and before it the payload, if the hook has one. Before the handler, that is the
 * stream of the body.
 */
function isAfterHandler(reply: FastifyReply, rest: readonly unknown[]): boolean {
  if (reply.raw?.writableEnded === true) return true;
  const [payload] = rest as readonly ({ readonly pipe?: unknown } | null | undefined)[];
  return rest.length > 1 && typeof payload?.pipe !== "function";
}

/** The verdict on the key of a request; null if none was presented, or there is no guard. */
export function apiKeyOf(request: FastifyRequest): ApiKey | null {
  return ownApiKey(request);
}

/**
 * The verdict on the key of a request on a route that reserves, with `settle` and `release`; null if no key was presented, or there is no
 * guard that reserves.
 *
 * @example
 * await reservedKeyOf(request)?.settle({ cost: tokens });
 */
export function reservedKeyOf(request: FastifyRequest): ReservedKey | null {
  return ownReservedKey(request);
}
