import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  HttpException,
} from "@nestjs/common";
import { createDecisions } from "./decide.js";
import { rawRequest, rawResponse, setHostHeaders } from "./host-node.js";
import { presentedByNode, watchResponse } from "./node-request.js";
import type { GuardOptions } from "./options.js";
import { ownApiKey } from "./own-api-key.js";
import type { GuardLatchkey, GuardQuestion } from "./question.js";
import type { ApiKey, Refused } from "./refusal.js";

export type {
  ApiKey,
  ApiKeyOf,
  GuardLatchkey,
  GuardOptions,
  GuardQuestion,
  ReservedKey,
} from "./named-types.js";

/** A guard for `@UseGuards`, `useGlobalGuards` or `APP_GUARD`. */
export interface NestGuard extends CanActivate {
  canActivate(context: ExecutionContext): Promise<boolean>;
}

/** Creates a guard from a question. */
export type CreateNestGuard<Types extends LatchkeyTypes = DefaultTypes> = (
  question?: GuardQuestion<ExecutionContext, Types>,
) => NestGuard;

/**
 * Thrown by a guard that refuses. Its response is the body of the refusal; the headers are already set. Exception filters see it like any
 * other exception.
 */
export class ApiKeyRefused extends HttpException {
  /** The refusal, as it is sent: with its code, its headers and its verdict. */
  readonly refusal: Refused;

  constructor(refusal: Refused) {
    super(bodyOf(refusal), refusal.status, { description: refusal.code });
    this.message = refusal.code;
    this.refusal = refusal;
  }
}

/**
 * The verdict on the key of the request, as a parameter of a handler: null if the key is optional and none was presented, or there is no
 * guard. On a route that reserves, it is a `ReservedKey`.
 *
 * @example
 * \@Get()
 * \@UseGuards(guard({ permissions: "tiles.read" }))
 * tiles(\@VerifiedKey() apiKey: ApiKey) {}
 */
export const VerifiedKey: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ApiKey | null =>
    ownApiKey(context.switchToHttp().getRequest<object>()),
);

/**
 * Creates guards for routes of NestJS, on Express and on Fastify. Each puts the verdict in `request.apiKey`, where `@VerifiedKey()` finds
 * it, or throws {@link ApiKeyRefused}.
 *
 * For HTTP only: a message or a socket has no headers, and is refused with a 500 that is passed to `onError`.
 *
 * @throws TypeError naming the wrong option. A question is checked when you create its guard, before the first request.
 */
export function createGuard<Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<ExecutionContext>,
): CreateNestGuard<Types> {
  const { createDecide } = createDecisions(latchkey, options);
  return (question) => {
    const decide = createDecide(question);
    return {
      async canActivate(context) {
        const isHttp = context.getType() === "http";
        const http = context.switchToHttp();
        const request = http.getRequest<object>();
        const response = isHttp ? http.getResponse<object>() : null;
        const decision = await decide(() => {
          if (isHttp) return presentedByNode(rawRequest(request));
          throw new TypeError(`a guard is for HTTP, but this is "${context.getType()}"`);
        }, context);
        const raw = rawResponse(response);
        setHostHeaders(response, decision.headers);
        if (!decision.admitted) throw new ApiKeyRefused(decision);
        // The host has already responded: there is nothing left to do.
        if (raw?.writableEnded === true) {
          decision.end?.("release");
          return false;
        }
        watchResponse(rawRequest(request), raw, decision);
        (request as { apiKey?: ApiKey | null }).apiKey = decision.apiKey as ApiKey | null;
        return true;
      },
    };
  };
}

/** The response for Nest, which sends an object as JSON. A text from the host's hook stays a text, which Nest wraps in an object. */
function bodyOf({ body }: Refused): string | Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : body;
  } catch {
    return body;
  }
}
